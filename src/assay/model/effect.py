"""Side effects of tools, as their handlers report them."""

from __future__ import annotations

from typing import Final, Literal, get_args

from msgspec import Struct

Op = Literal["create", "update", "delete", "send", "execute", "read-external"]
OPS: Final = frozenset(get_args(Op))
MOST_CHARACTERS: Final = 2048
"""Of a target's id."""


class Target(Struct, frozen=True):
    """What was affected: a `file` by its path, a record of a `db`, an `http` URL, a `queue` and so on."""

    kind: str
    id: str


class Effect(Struct, frozen=True, omit_defaults=True):
    op: Op
    target: Target
    reversible: bool | None = None
    before: str | None = None
    """The digest of the previous content, such as `sha256:…`."""
    after: str | None = None
    count: int = 1
    bytes: int | None = None
    """The length of the new content."""

    def __post_init__(self) -> None:
        if self.op not in OPS:
            raise ValueError(f"unknown operation: {self.op!r}; one of {', '.join(get_args(Op))}")
        if not 0 < len(self.target.id) <= MOST_CHARACTERS:
            raise ValueError(f"the target of an effect must have 1 to {MOST_CHARACTERS} characters")
        if self.count < 1:
            raise ValueError(f"the count of an effect must be at least 1: {self.count}")


def digest(data: bytes | None) -> str | None:
    """The SHA-256 digest of some content, such as `sha256:…`."""
    if data is None:
        return None
    from hashlib import sha256  # not at the top: most servers report no effects

    return f"sha256:{sha256(data).hexdigest()}"
