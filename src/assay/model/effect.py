"""What a tool did to the world, as it says itself."""

from __future__ import annotations

from typing import Final, Literal, get_args

from msgspec import Struct

Op = Literal["create", "update", "delete", "send", "execute", "read-external"]
OPS: Final = frozenset(get_args(Op))
LONGEST: Final = 2048
"""Characters of what an effect was on."""


class Target(Struct, frozen=True):
    """What was touched: a `file` by its path, a record of a `db`, an `http` address, a `queue`, …"""

    kind: str
    id: str


class Effect(Struct, frozen=True, omit_defaults=True):
    op: Op
    target: Target
    reversible: bool | None = None
    before: str | None = None
    """The digest of what it held, as in `sha256:…`."""
    after: str | None = None
    count: int = 1
    bytes: int | None = None
    """How long it is now."""

    def __post_init__(self) -> None:
        if self.op not in OPS:
            raise ValueError(f"unknown effect: {self.op!r}; one of {', '.join(get_args(Op))}")
        if not 0 < len(self.target.id) <= LONGEST:
            raise ValueError(f"an effect is on something that 1 to {LONGEST} characters name")
        if self.count < 1:
            raise ValueError(f"an effect happened at least once, not {self.count} times")


def digest(data: bytes | None) -> str | None:
    """As it is written wherever bytes are told of and not shown."""
    if data is None:
        return None
    from hashlib import sha256  # servers without effects start without it

    return f"sha256:{sha256(data).hexdigest()}"
