"""What became of each bad message: what was answered, and whether the server went on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import PROBE, PROBED, SENTINEL, Trace

from .jrpc_bad_message import BROKE, NEGATIVE


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
