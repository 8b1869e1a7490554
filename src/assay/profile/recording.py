"""Calls in the ledger: those that ended well, and those that ended otherwise after something was done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from assay.model.effect import Effect
from assay.model.error import RpcError
from assay.model.jsonrpc import CallParams
from assay.protocol.layer import LayeredCall as Call

from .digests import EMPTY_OBJECT, digest, digest_of_effects, digest_of_json
from .port import LedgerFailed, LedgerPort, Record, Written
from .summary import Summary

logger: Final = logging.getLogger("assay.profile")

INVOKED: Final = "tool_invocation"
FAILED: Final = "tool_failure"
CANCELLED: Final = "tool_cancellation"
ASKED: Final = "tool_question"
READ: Final = "resource_read"


def event_of(error: BaseException, call: Call) -> str:
    """How a call ended that has no result."""
    if call.ended is not None or isinstance(error, asyncio.CancelledError):
        return CANCELLED
    return FAILED if isinstance(error, Exception) else ASKED


class Recording:
    """Writes what the calls of a server did into a ledger."""

    def __init__(self, ledger: LedgerPort) -> None:
        self._ledger = ledger
        self.ready = ledger.ready
        """Asked before a call: what could not be written down must not happen."""

    def invoked(self, params: CallParams, call: Call, summary: Summary) -> Written:
        payload = summary.args_digest or digest(bytes(params.arguments))
        return self._write(INVOKED, params.name, payload, summary.effects, summary.retention, call)

    def broken_off(self, params: CallParams, call: Call, tier: str, error: BaseException) -> None:
        """Not of calls that were refused before anything was done."""
        if isinstance(error, RpcError) and not call.effects:
            return
        payload = digest_of_json(params.arguments) or digest(bytes(params.arguments))
        try:
            self._write(event_of(error, call), params.name, payload, call.effects, tier, call)
        except LedgerFailed as failure:  # the call ends as it would have: a cancellation has to go on
            logger.error("a call of %s could not be written down: %s", params.name, failure)

    def read(self, uri: str, call: Call, tier: str) -> None:
        self._write(READ, uri, EMPTY_OBJECT, (), tier, call)

    def _write(
        self, event: str, target: str, payload: str, effects: Sequence[Effect], tier: str, call: Call
    ) -> Written:
        session = None if call.session is None else call.session.id or None
        principal = None if call.scope.principal is None else str(call.scope.principal)
        hashed = digest_of_effects(effects)
        return self._ledger.append(Record(event, target, payload, hashed, tier, session, principal))
