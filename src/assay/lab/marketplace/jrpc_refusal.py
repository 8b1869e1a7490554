"""How the profile wants each kind of bad message refused: the codes, and on HTTP the statuses, that it takes.

The seed names one code for all that is malformed, JSON-RPC another for what is no JSON: either is taken. HTTP
statuses differ between the seed, its own later drafts and the revisions: the code decides, and the status is
one of a set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe
from assay.model import error
from assay.revisions.revision import Opening, Revision

from .jrpc_attempt import Attempt, attempts

BAD_INPUT: Final = frozenset({200, 400, 422})
NOT_FOUND: Final = frozenset({200, 400, 404})
NOT_BATCHED: Final = frozenset({400, 501})


class Refusal(Struct, frozen=True):
    codes: frozenset[int] | None
    """None for any code."""
    statuses: frozenset[int]
    by_result: bool = False
    """Whether a tool's result may say it, too."""

    def takes(self, attempt: Attempt, earlier: frozenset[int] = frozenset()) -> bool:
        """Whether it was refused in this way; `earlier` are codes of what may be looked at before."""
        answer = attempt.answer
        if answer is None or attempt.status not in (None, *self.statuses):
            return False
        if self.by_result and answer.shape is Shape.RESULT:
            return answer.result.get("isError") is True
        return self._has_code(answer, earlier)

    def _has_code(self, answer: Message, earlier: frozenset[int]) -> bool:
        if answer.shape is not Shape.ERROR or type(answer.code) is not int:
            return False
        return self.codes is None or answer.code in self.codes | earlier

    def __str__(self) -> str:
        """What is expected."""
        codes = "any error" if self.codes is None else f"error {_either(self.codes)}"
        result = ", or a result with isError" if self.by_result else ""
        return f"{codes}{result}; on HTTP with status {_either(self.statuses)}"


def _either(numbers: frozenset[int]) -> str:
    return " or ".join(map(str, sorted(numbers, key=abs)))


_UNREADABLE: Final = Refusal(frozenset({error.PARSE_ERROR, error.INVALID_REQUEST}), BAD_INPUT)
_NO_REQUEST: Final = Refusal(frozenset({error.INVALID_REQUEST}), BAD_INPUT)
REFUSALS: Final[Mapping[str, Refusal]] = MappingProxyType(
    {
        "malformed": _UNREADABLE,
        "truncated": _UNREADABLE,
        "version": _NO_REQUEST,
        "method": _NO_REQUEST,
        "params": Refusal(frozenset({error.INVALID_REQUEST, error.INVALID_PARAMS}), BAD_INPUT),
        "unknown-method": Refusal(frozenset({error.METHOD_NOT_FOUND}), NOT_FOUND),
        "unknown-tool": Refusal(None, NOT_FOUND, by_result=True),
        "invalid-arguments": Refusal(frozenset({error.INVALID_PARAMS}), BAD_INPUT, by_result=True),
    }
)
BATCH: Final = Refusal(frozenset({error.INVALID_REQUEST}), NOT_BATCHED)
_UNMIRRORED: Final = frozenset({"malformed", "truncated", "method", "params"})
"""What headers cannot repeat: where they must, a server may see that first."""


def earlier_codes(case: str, transport: str, revision: Revision) -> frozenset[int]:
    """Codes that are right, too, since something else is wrong that a server may look at before."""
    headed = transport == Transport.HTTP and revision.opening is Opening.PER_REQUEST
    return frozenset({error.HEADER_MISMATCH}) if headed and case in _UNMIRRORED else frozenset()


def refused(trace: Trace, cases: Sequence[str]) -> Iterator[Observation]:
    """Whether each message of these cases was refused as the profile wants it."""
    for attempt in attempts(trace):
        if attempt.case in cases:
            refusal = REFUSALS[attempt.case]
            earlier = earlier_codes(attempt.case, trace.transport, trace.revision)
            holds = refusal.takes(attempt, earlier)
            yield observe(
                attempt.row, holds, attempt, expected=f"{refusal}", observed=_seen(refusal, attempt)
            )


def _seen(refusal: Refusal, attempt: Attempt) -> str:
    """What was observed, and what a result says of itself where that decides."""
    answer = attempt.answer
    if not refusal.by_result or answer is None or answer.shape is not Shape.RESULT:
        return f"{attempt}"
    said = answer.result.get("isError", "absent")
    return f"{attempt}: isError {str(said).lower()}"
