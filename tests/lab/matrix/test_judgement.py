"""Whose fault it is, on traces written by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from assay.lab.harness.scripted_server.client import ClientExit
from assay.lab.harness.trace.agreement import spoken_revision
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.view import client_view
from assay.lab.matrix.judgement import Recording, judged, words_of
from assay.lab.matrix.pair import Blame, Pair, PairResult, Status, StepStatus, joint
from assay.lab.matrix.step import Step
from assay.revisions.registry import BY_DATE
from tests.lab.traces import request, result, stdio_trace

REVISION = "2025-11-25"
NEWEST = "2026-07-28"
OPENING = request(
    0, "initialize", protocolVersion=REVISION, capabilities={}, clientInfo={"name": "c", "version": "1"}
)
WELCOME = result(
    0, protocolVersion=REVISION, capabilities={"tools": {}}, serverInfo={"name": "s", "version": "1"}
)
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
OPENED = ((">", OPENING), ("<", WELCOME), (">", READY))
LIST, TOOLS = request(1, "tools/list"), result(1, tools=[])
ERROR = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}}
STEPS = [Step.of("tools", {"do": "list_tools"})]
SAID_OK = b'{"step": 0, "ok": true}\n'
SAID_NO = b'{"step": 0, "ok": false, "detail": "TypeError"}\n'
CANNOT = b'{"step": 0, "ok": null, "detail": "no API"}\n'


def judge(*turns: tuple[str, Any], out: bytes = b"", status: int | None = 0, **exit_: Any) -> PairResult:
    trace = stdio_trace(*turns)
    return judged(recording(trace, ClientExit(status, out, b"the last line\n", **exit_)))


def recording(trace: Trace, client_exit: ClientExit) -> Recording:
    pair = Pair("c", "s", "stdio", trace.header.revision)
    return Recording(pair, trace, client_exit, STEPS, {}, 5.0)


@pytest.mark.parametrize(
    ("turns", "out", "status", "expected"),
    [
        ([(">", LIST), ("<", TOOLS)], SAID_OK, 0, (Status.OK, Blame.NONE, StepStatus.OK)),
        ([(">", LIST), ("<", TOOLS)], b"", 0, (Status.OK, Blame.NONE, StepStatus.OK)),
        ([], CANNOT, 0, (Status.OK, Blame.NONE, StepStatus.UNSUPPORTED)),
        ([], SAID_OK, 0, (Status.FAULTY, Blame.CLIENT, StepStatus.FAILED)),
        ([], b"", 0, (Status.FAULTY, Blame.CLIENT, StepStatus.FAILED)),
        ([], b"", 1, (Status.FAULTY, Blame.CLIENT, StepStatus.NOT_TRIED)),
        ([(">", LIST), ("<", TOOLS)], SAID_NO, 0, (Status.FAULTY, Blame.CLIENT, StepStatus.FAILED)),
        ([(">", LIST), ("<", ERROR)], SAID_NO, 0, (Status.FAULTY, Blame.SERVER, StepStatus.FAILED)),
        ([(">", LIST), ("<", ERROR)], b"", 1, (Status.FAULTY, Blame.SERVER, StepStatus.FAILED)),
        ([(">", LIST)], SAID_NO, 0, (Status.FAULTY, Blame.SERVER, StepStatus.FAILED)),
        (
            [(">", LIST), ("<", result(1, tools="none"))],
            SAID_NO,
            0,
            (Status.FAULTY, Blame.SERVER, StepStatus.FAILED),
        ),
        (
            [(">", LIST), ("<", result(1, tools="none"))],
            SAID_OK,
            0,
            (Status.FAULTY, Blame.SERVER, StepStatus.OK),
        ),
    ],
)
def test_a_step_is_judged_by_the_word_of_the_client_and_by_the_traffic(
    turns: list[tuple[str, Any]], out: bytes, status: int, expected: tuple[Status, Blame, StepStatus]
) -> None:
    judged_pair = judge(*OPENED, *turns, out=out, status=status)
    assert (judged_pair.status, judged_pair.blame, judged_pair.steps[1].status) == expected


def test_all_steps_worked_even_if_a_rule_was_broken() -> None:
    assert judge(*OPENED, (">", LIST), ("<", result(1, tools="none")), out=SAID_OK).works
    assert not judge(*OPENED, (">", LIST), ("<", ERROR), out=SAID_NO).works


def test_rule_that_the_client_breaks_counts_against_it() -> None:
    twice = ((">", LIST), ("<", TOOLS), (">", LIST), ("<", TOOLS))
    broken = judge(*OPENED, *twice, out=SAID_OK)
    assert (broken.status, broken.blame) == (Status.FAULTY, Blame.CLIENT)
    assert all(rule.blame is Blame.CLIENT and rule.requirement for rule in broken.rules)


def test_exit_status_127_is_not_supported() -> None:
    assert judge(status=127) == PairResult(
        Pair("c", "s", "stdio", REVISION), Status.UNSUPPORTED, Blame.CLIENT, "the last line"
    )


def test_client_that_sends_nothing_could_not_run_or_is_at_fault() -> None:
    assert (judge(status=1).status, judge(status=0).status) == (Status.NOT_RUN, Status.FAULTY)


def test_client_that_is_stopped_waits_for_the_server_or_is_at_fault() -> None:
    waiting = judge(*OPENED, (">", LIST), status=None, stopped=True)
    idle = judge(*OPENED, (">", LIST), ("<", TOOLS), status=None, stopped=True)
    assert (waiting.blame, idle.blame) == (Blame.SERVER, Blame.CLIENT)
    assert "had not ended after 5 s" in idle.reason


def test_another_revision_is_not_supported_by_the_one_that_chose_it() -> None:
    older = msgspec.json.decode(msgspec.json.encode(WELCOME).replace(REVISION.encode(), b"2025-06-18"))
    chosen = judge((">", OPENING), ("<", older))
    assert (chosen.status, chosen.blame) == (Status.UNSUPPORTED, Blame.SERVER)
    trace = stdio_trace(*OPENED, revision=BY_DATE[NEWEST])
    fallen_back = judged(recording(trace, ClientExit(0)))
    assert (fallen_back.status, fallen_back.blame) == (Status.UNSUPPORTED, Blame.CLIENT)


def test_server_that_names_other_revisions_does_not_support_this_one() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": NEWEST}
    for answer in (
        result(0, supportedVersions=[REVISION], capabilities={}, resultType="complete"),
        {"jsonrpc": "2.0", "id": 0, "error": {"code": -32022, "message": "no"}},
    ):
        trace = stdio_trace(
            (">", request(0, "server/discover", _meta=meta)), ("<", answer), revision=BY_DATE[NEWEST]
        )
        assert spoken_revision(trace) is None
        refused = judged(recording(trace, ClientExit(1)))
        assert (refused.status, refused.blame) == (Status.UNSUPPORTED, Blame.SERVER)


def test_refused_opening_is_the_fault_of_the_server() -> None:
    refusal = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32603, "message": "no"}}
    refused = judge((">", OPENING), ("<", refusal), status=1)
    assert (refused.status, refused.blame) == (Status.FAULTY, Blame.SERVER)
    assert refused.reason.startswith("connect: the server answered initialize with")


def test_views_have_the_same_numbers_and_opposite_senders() -> None:
    trace = stdio_trace(*OPENED)
    view = client_view(trace, "c")
    assert [frame.n for frame in view.frames] == [frame.n for frame in trace.frames]
    assert all(a.sender is not b.sender for a, b in zip(view.frames, trace.frames, strict=True))
    assert (view.header.role, view.header.subject) == ("client", "c")


def test_other_output_of_the_client_is_ignored() -> None:
    noise = b'hello\n{"step": 1}\n{"step": "x", "ok": true}\n{\xff\n[1]\n' + SAID_OK
    assert [*words_of(noise)] == [0]


def test_joint_blame() -> None:
    both = {Blame.CLIENT, Blame.SERVER}
    assert joint(both) is Blame.BOTH
    assert joint({Blame.CLIENT, Blame.UNCLEAR}) is Blame.CLIENT
    assert joint({Blame.UNCLEAR}) is Blame.UNCLEAR
    assert joint(set()) is Blame.NONE
