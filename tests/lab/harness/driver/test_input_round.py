"""A request is retried with the driver's answers as long as the result is `input_required`."""

import json
from typing import Any

from assay.lab.harness.driver.input_round import ROUNDS, converse, converse_with
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.question import ELICIT, ROOTS
from assay.lab.harness.links.link import Sent
from assay.lab.harness.trace.frame import Header, Kind, Sender
from assay.lab.harness.trace.recorder import Recorder
from assay.revisions.registry import PER_REQUEST

REVISION = PER_REQUEST[-1]


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
