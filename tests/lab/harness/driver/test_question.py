"""Questions in both forms, and the retries that answer them."""

import json
from typing import Any

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.question import (
    ELICIT,
    ROOTS,
    ROUNDS,
    SAMPLE,
    URL_REQUIRED,
    converse,
    converse_with,
    questions,
    questions_in,
    rounds_of,
)
from assay.lab.harness.links.link import Sent
from assay.lab.harness.trace.frame import Header, Kind, Sender
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import PER_REQUEST
from tests.lab.traces import request, result, stdio_trace

FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
ANSWER = {"action": "decline"}
REVISION = PER_REQUEST[-1]


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


class AskingLink:
    """Answers each request with the next of these results, and repeats the last."""

    def __init__(self, peer: Peer, recorder: Recorder, results: list[dict[str, Any]]) -> None:
        self.sent: list[dict[str, Any]] = []
        self.headers: list[Any] = []
        self._peer = peer
        self._recorder = recorder
        self._results = results

    async def open(self) -> None: ...

    async def send(self, body: bytes, message: Any, headers: Any) -> Sent:
        self.sent.append(message["params"])
        self.headers.append(headers)
        result = self._results[min(len(self.sent), len(self._results)) - 1]
        reply = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        self._peer.deliver(self._recorder.record(Sender.SUBJECT, "1/lines", Kind.LINE, reply + b"\n"), reply)
        return Sent("1/lines")

    def agreed(self, head: Any, version: str) -> None: ...

    async def close(self) -> None: ...


def peer_with(*results: dict[str, Any]) -> tuple[Peer, AskingLink]:
    recorder = Recorder(Header(REVISION.date, "stdio", "by hand", "by-hand"))
    peer = Peer(
        recorder,
        REVISION,
        name="1",
        patience=5.0,
        connect=lambda inbox: AskingLink(inbox, recorder, list(results)),
    )
    assert isinstance(peer.link, AskingLink)
    return peer, peer.link


def input_required(state: str, **requests: Any) -> dict[str, Any]:
    return {"resultType": "input_required", "inputRequests": requests, "requestState": state}


async def test_answers_and_state_come_with_the_retry() -> None:
    requests = {"a": {"method": ELICIT, "params": {"message": "?"}}, "b": {"method": ROOTS}}
    peer, link = peer_with(input_required("s", **requests), {"resultType": "complete"})
    peer.responders[ELICIT] = lambda params: {"result": {"echo": params["message"]}}
    reply = await converse(peer, "tools/call", {"name": "x"})
    assert reply.result == {"resultType": "complete"}
    assert link.sent[1]["inputResponses"] == {"a": {"echo": "?"}, "b": {"roots": []}}
    assert link.sent[1]["requestState"] == "s" and link.sent[1]["name"] == "x"


async def test_question_that_the_driver_does_not_answer_is_omitted() -> None:
    peer, link = peer_with(input_required("s", a={"method": "odd"}, b=7), {"resultType": "complete"})
    await converse(peer, "tools/call", {"name": "x"})
    assert link.sent[1]["inputResponses"] == {}


async def test_retries_of_a_subject_that_never_stops_asking_are_limited() -> None:
    peer, link = peer_with({"resultType": "input_required"})
    await converse(peer, "tools/call", {"name": "x"})
    assert len(link.sent) == 1 + ROUNDS
    assert "requestState" not in link.sent[-1]


async def test_retry_of_a_call_repeats_its_headers() -> None:
    peer, link = peer_with(input_required("s"), {"resultType": "complete"})
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    await converse_with(peer, {"name": "x", "inputSchema": schema}, {"region": "north"})
    assert link.headers == [{"Mcp-Param-Region": "north"}] * 2
