"""What the profile and a ledger expect of each other."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class LedgerFailed(RuntimeError):
    """The ledger cannot take more, so what it should record must not happen; the text says why."""


class Record(NamedTuple):
    """Something that was done, for the ledger. Digests are written as in `sha256:<64 hex>`."""

    event: str
    """`tool_invocation`, `resource_read`, …"""
    target: str
    """The name of the tool, the URI of the resource."""
    payload_hash: str
    """Of what was asked: the canonical arguments."""
    effects_hash: str
    """Of the canonical list of effects; of `[]` where there were none."""
    retention_tier: str
    session: str | None = None
    """In clear here; only a keyed hash of it is written."""
    principal: str | None = None
    """As `session`."""


class Written(NamedTuple):
    """Where a record stands in the ledger."""

    seq: int
    entry_hash: str


class LedgerPort(Protocol):
    """`profile.ledger.Ledger` is one."""

    def ready(self) -> None:
        """Asked before anything is done.

        Raises:
            LedgerFailed: it could not be written down.
        """

    def append(self, record: Record, /) -> Written:
        """
        Raises:
            LedgerFailed: nothing more can be taken.
        """

    def close(self) -> None:
        """Write all that was taken, and end."""
