"""Checks of what clients do with the process of a server, on traces written by hand."""

import pytest

from assay.lab.client.framing import STUBBORN
from assay.lab.harness.scripted_server.stdio_listener import KILLED, SIGNALLED, STARTED
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from tests.lab.client.judging import NEW, OLD, mark, trace_of, verdicts

PLACE = "1/lines"
SAID = Frame(0, 1.0, Sender.SUBJECT, PLACE, Kind.LINE, b'{"jsonrpc":"2.0","method":"notifications/x"}\n')
CLOSED = Frame(0, 2.0, Sender.SUBJECT, PLACE, Kind.END, info={"clean": True})
BEGUN, GONE = mark(STARTED, PLACE, 0.5), mark(KILLED, PLACE, 6.0)


def signalled(at: float) -> Frame:
    return mark(SIGNALLED, PLACE, at, signal="SIGTERM")


@pytest.mark.parametrize(
    ("end", "holds"),
    [
        ([CLOSED, GONE], True),
        ([CLOSED, signalled(4.0), GONE], True),
        ([signalled(1.5), CLOSED, GONE], False),
        ([GONE], False),
        ([], False),
    ],
    ids=["closed", "closed, then told", "told at once", "killed", "left alone"],
)
def test_the_input_is_closed_before_any_signal(end: list[Frame], holds: bool) -> None:
    assert verdicts("framing.shutdown", "STD-11", trace_of(BEGUN, SAID, *end)) == [holds]


def test_a_stubborn_server_is_given_time_and_a_signal() -> None:
    stubborn = (mark(STUBBORN), BEGUN, SAID, CLOSED)
    patient = trace_of(*stubborn, signalled(4.0), GONE)
    hasty = trace_of(*stubborn, signalled(2.001), GONE)
    silent = trace_of(*stubborn, GONE)
    found = [verdicts("framing.shutdown", "STD-11", one)[0] for one in (patient, hasty, silent)]
    assert found == [True, False, False]


def test_a_newer_client_may_end_a_stubborn_server_by_any_force() -> None:
    silent = trace_of(mark(STUBBORN), BEGUN, SAID, CLOSED, GONE, revision=NEW)
    assert verdicts("framing.shutdown", "STD-11", silent) == [True]


@pytest.mark.parametrize("line", [b"DEBUG\n", b"[]\n", b"7\n", b"{}\n"])
def test_what_is_no_message_does_not_belong_on_the_input(line: bytes) -> None:
    odd = Frame(0, 1.0, Sender.SUBJECT, PLACE, Kind.LINE, line)
    assert verdicts("framing.pure-input", "STD-03", trace_of(odd, revision=OLD)) == [False]
