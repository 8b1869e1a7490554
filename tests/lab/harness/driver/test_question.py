"""Questions of a server are found wherever the revision puts them, with the declared capabilities."""

from typing import Any

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.driver.question import (
    ELICIT,
    ROOTS,
    SAMPLE,
    URL_REQUIRED,
    questions,
    questions_in,
    rounds_of,
)
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import PER_REQUEST
from tests.lab.traces import request, result, stdio_trace

FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
ANSWER = {"action": "decline"}


def after_handshake(*turns: tuple[str, Any]) -> Trace:
    hello = request(0, "initialize", capabilities={"elicitation": {"form": {}}})
    return stdio_trace((">", hello), ("<", result(0)), *turns)


def without_handshake(*turns: tuple[str, Any]) -> Trace:
    return stdio_trace(*turns, revision=PER_REQUEST[-1])


def test_question_by_request_knows_the_handshake() -> None:
    (question,) = questions(
        after_handshake((">", request(1, "tools/call")), ("<", request("q", ELICIT, **FORM)))
    )
    assert question.declared("elicitation") == {"form": {}}
    assert question.declared("sampling") is None
    assert question.mode == "form" and question.key is None


def test_round_by_request_ends_with_the_call_it_was_asked_during() -> None:
    trace = after_handshake(
        (">", request(1, "tools/call")),
        ("<", request("q", ELICIT, **FORM)),
        (">", result("q", **ANSWER)),
        ("<", result(1, content=[])),
    )
    (input_round,) = rounds_of(trace, ELICIT)
    assert input_round.answer == ANSWER
    assert input_round.outcome.result == {"content": []}


def test_question_during_two_calls_belongs_to_neither() -> None:
    trace = after_handshake(
        (">", request(1, "tools/call")),
        (">", request(2, "tools/call")),
        ("<", request("q", ROOTS)),
        (">", result("q", roots=[])),
        ("<", result(1)),
        ("<", result(2)),
    )
    assert [question.method for question in questions(trace)] == [ROOTS]
    assert not list(rounds_of(trace))


def test_question_by_result_knows_its_request_and_its_retry() -> None:
    meta: dict[str, Any] = {CAPABILITIES_KEY: {"elicitation": {}}}
    trace = without_handshake(
        (">", request(1, "tools/call", _meta=meta)),
        (
            "<",
            result(1, resultType="input_required", inputRequests={"a": {"method": ELICIT, "params": FORM}}),
        ),
        (">", request(2, "tools/call", inputResponses={"a": ANSWER}, _meta=meta)),
        ("<", result(2, resultType="complete")),
    )
    (input_round,) = rounds_of(trace)
    assert input_round.question.key == "a"
    assert input_round.question.declared("elicitation") == {}
    assert input_round.answer == ANSWER and input_round.outcome.request.id == 2
    assert len(input_round.frames) == 3


def test_errors_that_require_a_url_hold_questions_too() -> None:
    error = {"id": 1, "error": {"code": URL_REQUIRED, "data": {"elicitations": [{"mode": "url"}, 7]}}}
    assert [question["params"] for _, question in questions_in(error)] == [{"mode": "url"}, 7]
    (first, second) = questions(
        after_handshake((">", request(1, "tools/call")), ("<", {"jsonrpc": "2.0", **error}))
    )
    assert first.mode == "url" and second.params == {}


def test_other_messages_hold_no_questions() -> None:
    unhashable = {"id": 1, "method": []}
    for message in (
        unhashable,
        {"method": SAMPLE},
        {"id": 1, "result": {"inputRequests": [1]}},
        {"error": 3},
        {},
    ):
        assert not list(questions_in(message))
