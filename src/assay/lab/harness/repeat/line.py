"""Chooses the line that repeats a finding.

A line of messages (curl, or a pipe into the server's command) needs nothing but a shell, so it is preferred.
It is only given if the check finds the same fault in the frames that it repeats, alone: most faults need one
request, but some need two connections, an answer in between, or a silence. The line for those runs the
scenario again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

from .curl import CurlRepeater
from .message_line import LONGEST, MessageLine
from .pipe import PipeRepeater
from .scenario_line import scenario_line

Judge = Callable[[Trace], Iterable[Observation]]
MOST_UNITS: Final = 24
"""Messages that are tried without one another."""
_VARYING: Final = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")


class Repeater(Protocol):
    """Sends messages of a trace again. A unit is what can be left out: a line, or an HTTP request."""

    @property
    def most(self) -> int:
        """Units of one line."""

    @property
    def cited(self) -> list[Any]: ...

    @property
    def before(self) -> list[Any]:
        """All that can be repeated, up to the last cited unit."""

    def is_needed(self, unit: Any) -> bool:
        """Whether a line cannot be without it."""

    def line(self, units: Sequence[Any]) -> MessageLine | None: ...


_REPEATERS: Final[Mapping[str, Callable[[Trace, Sequence[int]], Repeater]]] = {
    "stdio": PipeRepeater,
    "http": CurlRepeater,
}


def repeating_line(trace: Trace, observation: Observation, judge: Judge, *, history: bool = False) -> str:
    line = message_line(trace, observation, judge, history=history)
    return scenario_line(trace.header) if line is None else line.text


def message_line(
    trace: Trace, observation: Observation, judge: Judge, *, history: bool = False
) -> MessageLine | None:
    """A line whose messages alone show the fault: the cited ones, else the fewest of those before them. There
    is none if other messages may be the cause (`history`)."""
    if history or trace.header.role != "server" or trace.transport not in _REPEATERS:
        return None
    repeater = _REPEATERS[trace.transport](trace, observation.frames)

    def showing(units: Sequence[Any]) -> MessageLine | None:
        line = repeater.line(units) if units else None
        return line if line is not None and shows(line.trace, observation, judge) else None

    line = showing(repeater.cited)
    if line is None or len(repeater.cited) > repeater.most:
        units = _fewest(repeater, showing)
        line = showing(units) if len(units) <= repeater.most else None
    return line if line is not None and len(line.text) <= LONGEST else None


def _fewest(repeater: Repeater, showing: Callable[[Sequence[Any]], object]) -> list[Any]:
    units = repeater.before
    if len(units) > MOST_UNITS or not showing(units):
        return []
    for unit in [unit for unit in units[::-1] if not repeater.is_needed(unit)]:
        fewer = [other for other in units if other is not unit]
        if showing(fewer):
            units = fewer
    return units


def shows(trace: Trace, observation: Observation, judge: Judge) -> bool:
    """Whether a check observes the same fault in another trace. What the subject sent may differ; if it sent
    nothing, that must be what was observed."""
    faults = [
        other for other in judge(trace) if not other.holds and other.requirement == observation.requirement
    ]
    return any(_kind(other) == _kind(observation) or _cites_answer(other, trace) for other in faults)


def _cites_answer(observation: Observation, trace: Trace) -> bool:
    return any(trace.frames[n].sender == "subject" and trace.frames[n].raw for n in observation.frames)


def _kind(observation: Observation) -> str:
    return _VARYING.sub("#", observation.observed)
