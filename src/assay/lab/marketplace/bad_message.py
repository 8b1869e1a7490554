"""Messages that a server must refuse or survive, and how a driver offers them one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import Observation, Stage, Trace, observe
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.links.broken_off import Gone, NoAnswer
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import PROBE, PROBED, SENTINEL
from assay.lab.harness.transport import Transport
from assay.model import error
from assay.revisions.revision import Opening, Revision

NEGATIVE: Final = "negative"
"""The name of the probes around them."""
BROKE: Final = "broke off"
"""The mark of one after which the server did not go on."""


class BadMessage(Struct, frozen=True):
    case: str
    """The last part of the row's name."""
    what: str
    message: Any
    """A value, or bytes that are sent as they are."""
    ids: tuple[str, ...] = ()
    """By which an answer may name it."""
    headers: dict[str, str] = {}
    answered: bool = False
    """It is in good form: its answer is waited for, and may take its time."""


def plain_request(stage: Stage, request_id: str, **params: Any) -> dict[str, Any]:
    """A request that any server serves, to be spoiled."""
    full = declared(stage.revision, params, {})
    given = {"params": full} if full else {}
    return {"jsonrpc": "2.0", "id": request_id, "method": stage.plain, **given}


async def offer_each(stage: Stage, messages: Iterable[BadMessage], peer: Peer | None = None) -> None:
    """Offer them on one connection, each followed by a good request; on a new one after each that ends it."""
    peer = peer or await stage.open()
    for bad in messages:
        try:
            await _offer(peer, bad)
        except (Gone, NoAnswer) as reason:
            peer.mark(BROKE, reason=str(reason))
            await peer.close()
            peer = await stage.open()


async def _offer(peer: Peer, bad: BadMessage) -> None:
    async with peer.probe(NEGATIVE, case=bad.case, what=bad.what, ids=bad.ids):
        # Who is served after all must not be taken for the good request that follows.
        expected = [peer.expect(bad.what, name) for name in bad.ids]
        sent = await peer.send(bad.message, headers=bad.headers)
        for pending in expected:
            pending.sent = sent
        await sent.settled(peer.patience)
        if bad.answered:
            await _wait_for(peer, expected)
            peer.forget(expected)


async def _wait_for(peer: Peer, expected: list[Pending]) -> None:
    """Until all are answered, or refused as one. Silence is for the check to judge."""
    with suppress(NoAnswer):
        for pending in expected:
            reply = await peer.answer(pending)
            if reply.message is None or reply.message.id != pending.id:
                return


class Attempt(Struct, frozen=True):
    case: str
    what: str
    inside: tuple[Frame, ...]
    answers: tuple[Message, ...]
    status: int | None
    """Of the HTTP response; none on stdio, 0 where there was none."""
    went_on: bool | None
    """Whether the next good request was served; none where nobody can tell."""
    after: str
    """What the next good request got."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.inside, *(one.frame for one in self.answers))

    @property
    def row(self) -> str:
        return f"CONF-JRPC-03.{self.case}"

    @property
    def answer(self) -> Message | None:
        return self.answers[0] if self.answers else None

    def __str__(self) -> str:
        """What was observed."""
        said = " and ".join(map(str, self.answers)) or "no JSON-RPC answer"
        status = (
            "" if self.status is None else f", HTTP {self.status}" if self.status else ", no HTTP response"
        )
        return f"{said}{status}, for {self.what}"


def attempts(trace: Trace) -> Iterator[Attempt]:
    """Every bad message of the scenario, also the one that ended the conversation."""
    begins = [one for one in trace.marks(PROBE) if one.info.get("name") == NEGATIVE]
    for begin in begins:
        end = _end(trace, begin)
        if end is not None:
            yield _attempt(trace, begin, end)


def _end(trace: Trace, begin: Frame) -> Frame | None:
    """The mark after it on its connection that says how it ended; none where the driver was stopped."""
    marks = (one for one in trace.frames[begin.n + 1 :] if one.channel == begin.channel)
    return next((one for one in marks if one.info.get("label") in (PROBED, BROKE)), None)


def _attempt(trace: Trace, begin: Frame, end: Frame) -> Attempt:
    inside = tuple(
        one
        for one in trace.frames[begin.n + 1 : end.n]
        if one.connection == begin.connection and one.kind is not Kind.MARK
    )
    numbers = {one.n for one in inside}
    went_on, after = _afterwards(trace, numbers, end)
    status, answers = _answers(trace, numbers, begin.info)
    what = f"{begin.info.get('what')}"
    return Attempt(f"{begin.info.get('case')}", what, inside, answers, status, went_on, after)


def _afterwards(trace: Trace, numbers: set[int], end: Frame) -> tuple[bool | None, str]:
    if end.info.get("label") == BROKE:
        return False, f"{end.info.get('reason')}"
    asked = next((one for one in trace.exchanges() if _is_sentinel(one.request, numbers)), None)
    if asked is None or asked.answer is None:
        return None, "nothing"
    return asked.result is not None, str(asked)


def _is_sentinel(message: Message, numbers: set[int]) -> bool:
    named = isinstance(message.id, str) and message.id.startswith(SENTINEL)
    return named and message.frame.n in numbers


def _answers(trace: Trace, numbers: set[int], info: dict[str, Any]) -> tuple[int | None, tuple[Message, ...]]:
    """On HTTP what is on the response to it; elsewhere what names it, or comes at once and names nothing."""
    calls = [one for one in trace.calls if one.request.n in numbers]
    if calls:
        return calls[0].status, tuple(one for one in calls[0].messages if one.is_response)
    ids = info.get("ids")
    mine = [*ids] if isinstance(ids, list | tuple) else []
    return None, tuple(
        one
        for one in trace.received
        if one.is_response
        and ((one.id is None and one.frame.n in numbers) or any(same_id(one.id, name) for name in mine))
    )


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
