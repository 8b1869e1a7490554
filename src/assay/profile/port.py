"""The interface between the profile and a ledger."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from msgspec import Struct


class LedgerFailed(RuntimeError):
    """The ledger cannot accept more, so what it should record must not happen."""


class Record(NamedTuple):
    """An action to record. Digests are written as `sha256:<64 hex>`."""

    event: str
    """`tool_invocation`, `resource_read`, …"""
    target: str
    """The name of the tool, the URI of the resource."""
    payload_hash: str
    """Of the request: the canonical arguments."""
    effects_hash: str
    """Of the canonical list of effects; of `[]` without any."""
    retention_tier: str
    session: str | None = None
    """In clear; the ledger stores only a keyed hash."""
    principal: str | None = None
    """As for `session`."""


class LedgerPosition(Struct, rename="camel"):
    """The position of a record in the ledger."""

    seq: int
    entry_hash: str


class LedgerPort(Protocol):
    """Implemented by `profile.ledger.Ledger`."""

    def ready(self) -> None:
        """Called before an action.

        Raises:
            LedgerFailed: The action could not be recorded.
        """

    def append(self, record: Record, /) -> LedgerPosition:
        """
        Raises:
            LedgerFailed: The ledger accepts no more records.
        """

    def close(self) -> None:
        """Write all records, and end."""
