"""Event streams: polling, and several at once."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    observe,
    on_block,
    on_call,
    on_reply,
)
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.need import declares
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.event_stream import STREAM_FIRST, requests

from .declaration import official_check, official_scenario
from .fixture import fixture_tool

# --- what is asked


IDS = (1000, 1001, 1002)


@official_scenario(
    "server-sse-multiple-streams",
    "Send three requests at once",
    needs=(declares("tools"),),
    transports=HTTP_ONLY,
    aliases=("sse-multiple-streams",),
)
async def drive_server_sse_multiple_streams(stage: Stage) -> None:
    peer = await stage.open()
    requests = [await peer.start("tools/list", {}, request_id=number, headers=STREAM_FIRST) for number in IDS]
    for pending in requests:
        await peer.answer(pending)


RECONNECTING = "test_reconnection"
POLLS = 5
"""A server may close the stream more than once."""


@official_scenario(
    "server-sse-polling",
    "Resume a stream that the server closed early",
    needs=(fixture_tool(RECONNECTING),),
    transports=HTTP_ONLY,
    aliases=("sse-polling",),
)
async def drive_server_sse_polling(stage: Stage) -> None:
    peer = await stage.open()
    params = {"name": RECONNECTING, "arguments": {}}
    pending = await peer.start("tools/call", params, headers=STREAM_FIRST)
    reply = await peer.answer(pending)
    for _ in range(POLLS):
        after = _last_event(pending)
        if reply.message is not None or after is None:
            break
        pending = await _resumed(peer, pending, after)
        reply = await peer.answer(pending)


def _last_event(pending: Pending) -> str | None:
    ids = pending.sent.event_ids if pending.sent is not None else []
    return ids[-1] if ids else None


async def _resumed(peer: Peer, pending: Pending, after: str) -> Pending:
    """The same request, on a stream that continues after an event."""
    again = peer.expect(pending.method, pending.id)
    again.sent = await peer.http.listen(after=after)
    return again


# --- how it is judged


ACCEPTED, FUNCTIONAL = "server-accepts-multiple-post-streams", "server-sse-streams-functional"


@official_check(
    "server-sse-multiple-streams",
    "Concurrent requests are all served",
    requirements=(ACCEPTED, FUNCTIONAL),
    transports=HTTP_ONLY,
)
def judge_server_sse_multiple_streams(trace: Trace) -> Iterator[Observation]:
    calls = [
        call for call in trace.calls if any(message.method == "tools/list" for message in requests(call))
    ]
    if len(calls) < 2 or any(call.head is None for call in calls):
        return
    statuses = ", ".join(str(call.status) for call in calls)
    hollow = sum(_has_no_list(call) for call in calls)
    accepted = all(200 <= call.status < 300 for call in calls) and not hollow
    expected = f"success and lists of tools for {len(calls)} requests at once"
    observed = f"statuses {statuses}; {hollow} results without a list"
    yield observe(ACCEPTED, accepted, *calls, expected=expected, observed=observed)
    for call in calls:
        if call.is_stream:
            expected = "only the answer to its own request, once"
            yield observe(FUNCTIONAL, _is_sound(call), call, expected=expected, observed=_answers(call))


def _has_no_list(call: Call) -> bool:
    """A status of success and an empty result show nothing of the request."""
    results = [message.fields["result"] for message in call.messages if "result" in message.fields]
    return any(not isinstance(result, dict) or "tools" not in result for result in results)


def _is_sound(call: Call) -> bool:
    answers = [message for message in call.messages if message.is_response]
    ids = [request.id for request in requests(call)]
    return (
        len(answers) == 1
        and any(same_id(answers[0].id, known) for known in ids)
        and "result" in answers[0].fields
    )


def _answers(call: Call) -> str:
    answers = [f"{message} with id {message.id!r}" for message in call.messages if message.is_response]
    return ", ".join(answers) or "no answer on the stream"


POSTED = "server-sse-post-request"
PRIMED, RETRY, RESUMED = "server-sse-priming-event", "server-sse-retry-field", "server-sse-disconnect-resume"


@official_check(
    "server-sse-polling",
    "A stream that was closed early can be resumed",
    requirements=(POSTED, PRIMED, RETRY, RESUMED),
    transports=HTTP_ONLY,
)
def judge_server_sse_polling(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        request = next((message for message in call.request_messages if message.method == "tools/call"), None)
        if call.head is None or request is None:
            continue
        served = 200 <= call.status < 300
        yield observe(POSTED, served, call, expected="success", observed=f"status {call.status}")
        if call.is_stream:
            yield from _judge_opening(call)
            yield from _judge_resumed(call, request, trace)


def _judge_opening(call: Call) -> Iterator[Observation]:
    events = [event for _, event in call.events]
    primed = bool(events) and bool(events[0].event_id) and events[0].data in (b"", b"{}")
    first = f"{events[0].event_id!r}, {events[0].data[:60]!r}" if events else "no event"
    yield observe(PRIMED, primed, call, expected="a first event with an id and no data", observed=first)
    retry = any(line.startswith(b"retry:") for line in call.body.splitlines())
    yield observe(RETRY, retry, call, expected="a `retry` field on the stream", observed="none")


def _judge_resumed(call: Call, request: Message, trace: Trace) -> Iterator[Observation]:
    """Only a stream that ended before the answer can be resumed."""
    if _answer(call, request) is not None:
        return
    polls = [poll for poll in trace.calls if poll.resumes is not None and _follows(poll, call)]
    if not polls or polls[-1].status == 405:
        return
    answer = next(filter(None, (_answer(poll, request) for poll in polls)), None)
    holds = answer is not None and "result" in answer.fields and not answer.result.get("isError")
    expected = "the result of the call, on the resumed stream"
    yield observe(RESUMED, holds, call, *polls, expected=expected, observed=answer or "no answer")


def _follows(poll: Call, call: Call) -> bool:
    return poll.request.connection == call.request.connection and poll.request.n > call.request.n


def _answer(call: Call, request: Message) -> Message | None:
    answers = (message for message in call.messages if message.is_response)
    return next((message for message in answers if same_id(message.id, request.id)), None)


# --- what the checks must catch


@on_call("refuses a second request at the same time", breaks="server-accepts-multiple-post-streams")
def one_at_a_time(request: Request, context: FaultContext) -> Response | None:
    if b'"tools/list"' not in request.body:
        return None
    context.memory["asked"] = context.memory.get("asked", 0) + 1
    return Response([], 429, b"") if context.memory["asked"] > 1 else None


@on_reply("also sends the answer to another request", breaks="server-sse-streams-functional")
def broadcast(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/list" or not context.streams:
        return [reply]
    other = {"jsonrpc": "2.0", "id": reply["id"] + 1, "result": reply.get("result")}
    return [reply, other]


@on_block("ends a stream without an answer", breaks="server-sse-streams-functional")
def empty_stream(block: bytes, context: FaultContext) -> bytes:
    return b"" if b'"result"' in block and b'"tools"' in block and b'"inputSchema"' in block else block


@on_reply(
    "fails the call after the client resumed", breaks="server-sse-disconnect-resume", transports=HTTP_ONLY
)
def answer_is_failure(reply: Json, context: FaultContext) -> Json:
    if context.call is not None and context.call.method == "GET" and "result" in reply:
        reply["result"]["isError"] = True
    return reply


@on_call("does not send the answer on the resumed stream", breaks="server-sse-disconnect-resume")
def answer_lost(request: Request, context: FaultContext) -> Response | None:
    if request.method != "GET" or request.header("last-event-id") is None:
        return None
    return Response([("Content-Type", "text/event-stream")], 200, b": nothing new\n\n")


@on_call("answers a call with 500", breaks="server-sse-post-request")
def call_crashes(request: Request, context: FaultContext) -> Response | None:
    return Response([], 500, b"") if b"test_reconnection" in request.body else None


@on_block("does not begin a stream with an empty event", breaks="server-sse-priming-event")
def unprimed(block: bytes, context: FaultContext) -> bytes:
    return block if b'"jsonrpc"' in block or b"retry:" in block else b":\n\n"


@on_block("closes a stream without `retry`", breaks="server-sse-retry-field")
def no_retry(block: bytes, context: FaultContext) -> bytes:
    return b"\n".join(line for line in block.split(b"\n") if not line.startswith(b"retry:"))
