"""Servers that ask for certificates: a real one is judged, and traces of others."""

from typing import Any

import pytest

from assay.lab.harness.links.identity import CERTIFICATE, REFUSED
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.sabotage.certificate_authority import TestCA
from assay.lab.harness.subject.bearer import NONE, STRANGER, USUAL
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Outcome
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.lab.suite.admitted import call, trace

pytestmark = pytest.mark.waits

SUITE = suite_named("marketplace")
RESULT = {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_a_server_that_refuses_whom_it_does_not_know_passes() -> None:
    office = TestCA("reference")
    try:
        selection = Selection(scenarios=("sec.certificate",), revisions=(HANDSHAKE[-1], PER_REQUEST[-1]))
        order = RunSettings(SUITE, selection, Conditions())
        run = await Runner(order, [office.served()], lambda event: None, lambda cell, _: cell).run()
    finally:
        office.close()
    assert [(cell.outcome, len(cell.checks)) for cell in run.cells] == [(Outcome.PASSED, 1)] * 2
    assert {check.observations for cell in run.cells for check in cell.checks} == {2}


def marked(made: Trace, label: str, **info: Any) -> Trace:
    """The trace with a mark on its first connection."""
    mark = Frame(len(made.frames), 1.0, Sender.DRIVER, "1/marks", Kind.MARK, info={"label": label, **info})
    return Trace(made.header, [*made.frames, mark])


def holds(made: Trace) -> list[bool]:
    return [one.holds for one in SUITE.checks["sec.certificate"].judge(made)]


@pytest.mark.parametrize("kind", [NONE, STRANGER])
@pytest.mark.parametrize(("status", "expected"), [(200, False), (400, True), (403, True), (500, False)])
def test_who_shows_the_wrong_thing_gets_a_refusal(kind: str, status: int, expected: bool) -> None:
    asked = trace(call(USUAL, status, says=RESULT if status == 200 else None))
    assert holds(marked(asked, CERTIFICATE, shows=kind)) == [expected]


def test_a_connection_that_ends_without_a_word_is_a_refusal() -> None:
    request, *_ = trace(call(USUAL, 200)).frames
    end = Frame(1, 0.1, Sender.SUBJECT, "1/post-1", Kind.END)
    cut = Trace(trace(call(USUAL, 200)).header, [request, end])
    assert holds(marked(cut, CERTIFICATE, shows=NONE)) == [True]


def test_a_response_that_has_not_come_yet_proves_nothing() -> None:
    request, *_ = trace(call(USUAL, 200)).frames
    assert holds(marked(Trace(trace().header, [request]), CERTIFICATE, shows=NONE)) == []


def test_a_handshake_that_fails_is_a_refusal() -> None:
    assert holds(marked(trace(), REFUSED, shows=NONE, reason="TLS: no")) == [True]


def test_who_shows_the_usual_certificate_is_not_looked_at() -> None:
    assert holds(trace(call(USUAL, 200, says=RESULT))) == []
