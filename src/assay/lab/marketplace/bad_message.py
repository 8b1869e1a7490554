"""Bad messages: how scenarios send them, and how the profile expects a server to refuse each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
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

PREFIX: Final = "CONF-JRPC-03."
NEGATIVE: Final = "negative"
"""The name of the probe around each message."""
BROKE: Final = "broke off"
"""Marks a message after which the server did not recover."""


class BadMessage(Struct, frozen=True):
    case: str
    """The last part of the requirement's id."""
    description: str
    message: Any
    """A value, or bytes that are sent as they are."""
    ids: tuple[str, ...] = ()
    """The ids that an answer may have."""
    headers: dict[str, str] = {}
    answered: bool = False
    """It is well-formed, so the scenario waits for its answer."""


def plain_request(stage: Stage, request_id: str, **params: Any) -> dict[str, Any]:
    """A request that any server serves, as a base for bad ones."""
    complete = declared(stage.revision, params, {})
    fields = {"params": complete} if complete else {}
    return {"jsonrpc": "2.0", "id": request_id, "method": stage.plain, **fields}


async def send_each(stage: Stage, messages: Iterable[BadMessage], peer: Peer | None = None) -> None:
    """Send them on one connection, each followed by a good request; reconnect after each that ends it."""
    peer = peer or await stage.open()
    for bad in messages:
        try:
            await _send(peer, bad)
        except (Gone, NoAnswer) as reason:
            peer.mark(BROKE, reason=str(reason))
            await peer.close()
            peer = await stage.open()


async def _send(peer: Peer, bad: BadMessage) -> None:
    async with peer.probe(NEGATIVE, case=bad.case, what=bad.description, ids=bad.ids):
        await deliver(peer, bad)


async def deliver(peer: Peer, bad: BadMessage) -> None:
    """Send it, and wait for its answer if it has one: a server may answer a later request first."""
    # An answer to the bad message must not be taken for one to the good request that follows.
    expected = [peer.expect(bad.description, name) for name in bad.ids]
    sent = await peer.send(bad.message, headers=bad.headers)
    for pending in expected:
        pending.sent = sent
    await sent.settled(peer.patience)
    if bad.answered:
        await _wait_for(peer, expected)
        peer.forget(expected)


async def _wait_for(peer: Peer, expected: list[Pending]) -> None:
    """Wait until all are answered, or refused together. The check judges silence."""
    with suppress(NoAnswer):
        for pending in expected:
            reply = await peer.answer(pending)
            if reply.message is None or reply.message.id != pending.id:
                return


class Attempt(Struct, frozen=True):
    requirement: str
    description: str
    inside: tuple[Frame, ...]
    answers: tuple[Message, ...]
    status: int | None
    """The HTTP status; None on stdio, 0 without a response."""
    recovered: bool | None
    """Whether the next good request was served; None where that is unknown."""
    next_reply: str
    """The reply to the next good request."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.inside, *(answer.frame for answer in self.answers))

    @property
    def answer(self) -> Message | None:
        return self.answers[0] if self.answers else None

    def __str__(self) -> str:
        answers = " and ".join(map(str, self.answers)) or "no JSON-RPC answer"
        status = (
            "" if self.status is None else f", HTTP {self.status}" if self.status else ", no HTTP response"
        )
        return f"{answers}{status}, for {self.description}"


def attempts(trace: Trace) -> Iterator[Attempt]:
    """Every bad message of the scenario, including one that ended the conversation."""
    for begin in trace.marks(PROBE):
        end = _end(trace, begin) if begin.info.get("name") == NEGATIVE else None
        if end is not None:
            yield _attempt(trace, begin, end)


def _end(trace: Trace, begin: Frame) -> Frame | None:
    """The mark of its end on the same channel; None where the driver was stopped."""
    later = (frame for frame in trace.frames[begin.n + 1 :] if frame.channel == begin.channel)
    return next((frame for frame in later if frame.info.get("label") in (PROBED, BROKE)), None)


def _attempt(trace: Trace, begin: Frame, end: Frame) -> Attempt:
    inside = tuple(
        frame
        for frame in trace.frames[begin.n + 1 : end.n]
        if frame.connection == begin.connection and frame.kind is not Kind.MARK
    )
    numbers = {frame.n for frame in inside}
    recovered, next_reply = _recovery(trace, numbers, end)
    status, answers = _answers(trace, numbers, begin.info)
    requirement, description = f"{PREFIX}{begin.info.get('case')}", f"{begin.info.get('what')}"
    return Attempt(requirement, description, inside, answers, status, recovered, next_reply)


def _recovery(trace: Trace, numbers: set[int], end: Frame) -> tuple[bool | None, str]:
    if end.info.get("label") == BROKE:
        return False, f"{end.info.get('reason')}"
    sentinels = (exchange for exchange in trace.exchanges() if _is_sentinel(exchange.request, numbers))
    sentinel = next(sentinels, None)
    if sentinel is None or sentinel.answer is None:
        return None, "nothing"
    return sentinel.result is not None, str(sentinel)


def _is_sentinel(message: Message, numbers: set[int]) -> bool:
    named = isinstance(message.id, str) and message.id.startswith(SENTINEL)
    return named and message.frame.n in numbers


def _answers(trace: Trace, numbers: set[int], info: dict[str, Any]) -> tuple[int | None, tuple[Message, ...]]:
    """On HTTP, messages of the response; elsewhere those with its id, or with none while it was probed."""
    calls = [call for call in trace.calls if call.request.n in numbers]
    if calls:
        return calls[0].status, tuple(message for message in calls[0].messages if message.is_response)
    ids = info.get("ids")
    own = [*ids] if isinstance(ids, list | tuple) else []
    return None, tuple(
        message
        for message in trace.received
        if message.is_response
        and (
            (message.id is None and message.frame.n in numbers)
            or any(same_id(message.id, name) for name in own)
        )
    )


BAD_INPUT: Final = frozenset({200, 400, 422})
NOT_FOUND: Final = frozenset({200, 400, 404})
NOT_BATCHED: Final = frozenset({400, 501})


class ExpectedRefusal(Struct, frozen=True):
    codes: frozenset[int] | None
    """None accepts any code."""
    statuses: frozenset[int]
    by_result: bool = False
    """Whether a tool result with `isError` is also a refusal."""

    def fits(self, attempt: Attempt, earlier: frozenset[int] = frozenset()) -> bool:
        """Whether it was refused in this way, or with a code of a rule that may be checked earlier."""
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
        codes = "any error" if self.codes is None else f"error {_either(self.codes)}"
        result = ", or a result with isError" if self.by_result else ""
        return f"{codes}{result}; on HTTP with status {_either(self.statuses)}"


def _either(numbers: frozenset[int]) -> str:
    return " or ".join(map(str, sorted(numbers, key=abs)))


_UNREADABLE: Final = ExpectedRefusal(frozenset({error.PARSE_ERROR, error.INVALID_REQUEST}), BAD_INPUT)
_NO_REQUEST: Final = ExpectedRefusal(frozenset({error.INVALID_REQUEST}), BAD_INPUT)
REFUSALS: Final[Mapping[str, ExpectedRefusal]] = MappingProxyType(
    {
        "malformed": _UNREADABLE,
        "truncated": _UNREADABLE,
        "version": _NO_REQUEST,
        "method": _NO_REQUEST,
        "params": ExpectedRefusal(frozenset({error.INVALID_REQUEST, error.INVALID_PARAMS}), BAD_INPUT),
        "unknown-method": ExpectedRefusal(frozenset({error.METHOD_NOT_FOUND}), NOT_FOUND),
        "unknown-tool": ExpectedRefusal(None, NOT_FOUND, by_result=True),
        "invalid-arguments": ExpectedRefusal(frozenset({error.INVALID_PARAMS}), BAD_INPUT, by_result=True),
    }
)
BATCH: Final = ExpectedRefusal(frozenset({error.INVALID_REQUEST}), NOT_BATCHED)
_UNMIRRORED: Final = frozenset({"malformed", "truncated", "method", "params"})
"""Cases whose headers cannot match the body: a server may report that first."""


def earlier_codes(case: str, transport: str, revision: Revision) -> frozenset[int]:
    """Codes that also fit, because a server may check headers first."""
    mirrored = transport == Transport.HTTP and revision.opening is Opening.PER_REQUEST
    return frozenset({error.HEADER_MISMATCH}) if mirrored and case in _UNMIRRORED else frozenset()


def judge_refused(trace: Trace, requirements: Collection[str]) -> Iterator[Observation]:
    """Each message of these cases is refused as the profile requires."""
    for attempt in attempts(trace):
        if attempt.requirement in requirements:
            case = attempt.requirement.removeprefix(PREFIX)
            refusal, earlier = REFUSALS[case], earlier_codes(case, trace.transport, trace.revision)
            holds, observed = refusal.fits(attempt, earlier), _observed(refusal, attempt)
            yield observe(attempt.requirement, holds, attempt, expected=f"{refusal}", observed=observed)


def _observed(refusal: ExpectedRefusal, attempt: Attempt) -> str:
    """The attempt, with `isError` where that decides."""
    answer = attempt.answer
    if not refusal.by_result or answer is None or answer.shape is not Shape.RESULT:
        return f"{attempt}"
    return f"{attempt}: isError {str(answer.result.get('isError', 'absent')).lower()}"
