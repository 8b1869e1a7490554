"""Record calls in the ledger: completed ones, and those that failed after an effect."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from assay.model.effect import Effect
from assay.model.error import RpcError
from assay.model.jsonrpc import CallParams
from assay.model.visible import visible_record
from assay.protocol.middleware import Ending
from assay.protocol.middleware import ServedCall as Call

from .digests import EMPTY_OBJECT, digest, digest_of_effects, digest_of_json
from .port import LedgerFailed, LedgerPort, LedgerPosition, Record
from .summary import Summary

logger: Final = logging.getLogger("assay.profile")
logger.addFilter(visible_record)

INVOKED: Final = "tool_invocation"
FAILED: Final = "tool_failure"
CANCELLED: Final = "tool_cancellation"
QUESTION: Final = "tool_question"
READ: Final = "resource_read"
EVENTS: Final = {Ending.FAILED: FAILED, Ending.CANCELLED: CANCELLED, Ending.QUESTION: QUESTION}


def event_of(error: BaseException, call: Call) -> str:
    """The event of a call without a result."""
    return CANCELLED if call.ended is not None else EVENTS[call.ending_of(error)]


class CallRecorder:
    """Records a server's calls in a ledger."""

    def __init__(self, ledger: LedgerPort) -> None:
        self._ledger = ledger
        self.ready = ledger.ready
        """Called before an action, which must not happen if it cannot be recorded."""

    def invoked(self, params: CallParams, call: Call, summary: Summary) -> LedgerPosition:
        payload = summary.args_digest or digest(bytes(params.arguments))
        return self._write(INVOKED, params.name, payload, summary.effects, summary.retention, call)

    def failed(self, params: CallParams, call: Call, tier: str, error: BaseException) -> None:
        """Record a failed call, unless it was refused before it had an effect."""
        if isinstance(error, RpcError) and not call.effects:
            return
        payload = digest_of_json(params.arguments) or digest(bytes(params.arguments))
        try:
            self._write(event_of(error, call), params.name, payload, call.effects, tier, call)
        except LedgerFailed as failure:  # the call must end as it would have: a cancellation has to propagate
            logger.error("a call of %s could not be recorded: %s", params.name, failure)

    def read(self, uri: str, call: Call, tier: str) -> None:
        self._write(READ, uri, EMPTY_OBJECT, (), tier, call)

    def _write(
        self, event: str, target: str, payload: str, effects: Sequence[Effect], tier: str, call: Call
    ) -> LedgerPosition:
        session = None if call.session is None else call.session.id or None
        principal = None if call.scope.principal is None else str(call.scope.principal)
        effects_hash = digest_of_effects(effects)
        return self._ledger.append(Record(event, target, payload, effects_hash, tier, session, principal))
