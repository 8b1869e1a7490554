"""A server is told to end by the end of its input; a signal comes later, if at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.lab.harness.check import check
from assay.lab.harness.scripted_server.client_run import TIMED_OUT
from assay.lab.harness.scripted_server.stdio_listener import KILLED, SIGNALLED, STARTED
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.revision import Opening

STUBBORN = "stubborn"
"""The mark of a scenario whose server only ends by force."""
SOON = 0.05
"""Seconds: who waits less for a server to end does not wait."""
ORDER = "close its input, wait for it to end, then a signal"


@check("A server is ended in order", rows=("STD-11",), transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    stubborn = any(trace.marks(STUBBORN))
    if any(trace.marks(TIMED_OUT)):
        return  # whoever is stopped has no time to end anything
    for started in trace.marks(STARTED):
        own = [one for one in trace.frames if one.channel == started.channel]
        if any(one.sender is Sender.SUBJECT and one.kind is Kind.LINE for one in own):
            asked = stubborn and trace.revision.opening is Opening.HANDSHAKE
            problem = _problem(own, stubborn, asked)
            evidence = [
                one for one in own if one.kind is Kind.END or one.info.get("label") in (KILLED, SIGNALLED)
            ]
            yield observe("STD-11", problem is None, started, *evidence, expected=ORDER, observed=problem)


def _problem(frames: Sequence[Frame], stubborn: bool, asked: bool) -> str | None:
    """`asked`: whether force begins with a signal that a server can obey."""
    closed = next((one for one in frames if one.kind is Kind.END and one.sender is Sender.SUBJECT), None)
    signal = next((one for one in frames if one.info.get("label") == SIGNALLED), None)
    gone = next((one for one in frames if one.info.get("label") == KILLED), None)
    if closed is None:
        return "a signal while its input was open" if signal or gone else "its input was never closed"
    if signal is not None and signal.n < closed.n:
        return "a signal before its input was closed"
    if asked and signal is None:
        return "no signal, though it did not end"
    force = signal or gone
    if stubborn and force is None:
        return "it was left alone, though it did not end"
    if stubborn and force is not None and force.t - closed.t < SOON:
        return f"force {force.t - closed.t:.3f} s after the end of its input"
    return None
