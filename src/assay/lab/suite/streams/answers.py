"""Event streams that answer a POST."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_block,
    on_call,
    on_reply,
    on_response,
    scenario,
)
from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY, SUBSCRIPTION_KEY, param_headers
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.event_stream import PROGRESS as EVENT_STREAM_PROGRESS
from assay.lab.suite.event_stream import STREAM_FIRST, requests, token_of, tokens
from assay.revisions.revision import Opening, Revision

# --- what is asked


ENOUGH = 4
"""Tools that are called: what one stream shows, the next shows again."""


@scenario(
    "Answers on event streams",
    exercises=(
        "streams.answer-type",
        "streams.delivery",
        "streams.opening",
        "streams.related",
        "streams.no-requests",
    ),
    transports=HTTP_ONLY,
)
async def drive_answer_stream(stage: Stage) -> None:
    peer = await stage.open()
    ended = await streamed(peer, stage.plain, {"_meta": {"progressToken": "plain"}})
    if stage.facts.declares("logging") and "logging/setLevel" in stage.revision.requests:
        await peer.request("logging/setLevel", {"level": "debug"})
    for tool in stage.facts.read_only_tools[:ENOUGH]:
        # A server that leaves one stream open leaves them all: one is waited for.
        ended = ended and await streamed(peer, "tools/call", *call_of(tool, stage.revision))


def call_of(tool: dict[str, Any], revision: Revision) -> tuple[dict[str, Any], dict[str, str]]:
    """A call that wants to hear of its progress and of all that is logged, and the headers for it."""
    arguments = arguments_for(tool)
    told: dict[str, Any] = {"progressToken": f"of-{tool['name']}"}
    if revision.logs_on_demand:
        told[LOG_LEVEL_KEY] = "debug"
    headers = param_headers(tool, arguments) if revision.http.mirrored else {}
    return {"name": tool["name"], "arguments": arguments, "_meta": told}, headers


async def streamed(
    peer: Peer, method: str, params: dict[str, Any], headers: dict[str, str] | None = None
) -> bool:
    """Ask for an answer on a stream, and whether that stream ended."""
    pending = await peer.start(method, params, headers={**STREAM_FIRST, **(headers or {})})
    await peer.answer(pending)
    assert pending.sent is not None
    return await peer.http.follow(pending.sent)


@scenario(
    "A request whose client hangs up",
    exercises=("streams.hang-up", "streams.answer-type"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.disconnect_cancels,
)
async def drive_hang_up(stage: Stage) -> None:
    peer = await stage.open()
    wish = {"notifications": {"toolsListChanged": True}, "_meta": {"progressToken": "left"}}
    pending = await peer.start("subscriptions/listen", wish)
    assert pending.sent is not None
    # A server that has nothing to tell refuses at once: then there is nothing to hang up on.
    if await pending.sent.begun(peer.patience):
        await peer.http.abort(pending.sent)
    for _ in range(2):
        await peer.request(stage.plain, headers=STREAM_FIRST)


# --- how it is judged


@check("Hanging up cancels the request", requirements=("HTTP-20", "HTTP-21"), transports=HTTP_ONLY)
def judge_hang_up(trace: Trace) -> Iterator[Observation]:
    left = {
        frame.channel: frame
        for frame in trace.frames
        if frame.kind is Kind.END and frame.sender is Sender.DRIVER
    }
    for call in (one for one in trace.calls if one.channel in left and requests(one)):
        end = left[call.channel]
        later = [one for one in trace.received if one.frame.n > end.n and one.frame.channel != call.channel]
        about = [one for one in later if any(_is_about(one, asked) for asked in requests(call))]
        answers = [one for one in about if one.is_response]
        for row, found in (("HTTP-20", answers), ("HTTP-21", [one for one in about if not one.is_response])):
            yield observe(
                row,
                not found,
                call,
                *found,
                expected="nothing more about the request that was hung up on",
                observed=found[0] if found else "nothing",
            )


def _is_about(message: Message, request: Message) -> bool:
    if message.is_response:
        return repr(message.id) == repr(request.id)
    meta = message.params.get("_meta")
    named = meta.get(SUBSCRIPTION_KEY) if isinstance(meta, dict) else None
    token = token_of(request)
    told = message.params.get("progressToken")
    return repr(named) == repr(request.id) or (token is not None and repr(told) == repr(token))


@check(
    "A request is answered as JSON or as an event stream",
    requirements=("HTTP-12",),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge_answer_type(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.head is not None and 200 <= call.status < 300 and requests(call):
            kind = call.head.media_type
            yield observe(
                "HTTP-12",
                kind == EVENT_STREAM or (kind == JSON and _is_one(call)),
                call,
                expected=f"one object as {JSON}, or {EVENT_STREAM}",
                observed=f"status {call.status}, {kind or 'no content-type'}, {len(call.messages)} messages",
            )


def _is_one(call: Call) -> bool:
    if any(message.place is not None for message in call.request_messages):
        return True  # a batch is answered as its own rules say
    return len(call.messages) == 1 and call.messages[0].problem is None and call.messages[0].place is None


RESPONSE = "the response to each request that was posted"


@check(
    "A stream brings the response and ends with it",
    requirements=("HTTP-14", "HTTP-16", "HTTP-17", "HTTP-25"),
    transports=HTTP_ONLY,
)
def judge_delivery(trace: Trace) -> Iterator[Observation]:
    cancelled = [one.params.get("requestId") for one in trace.messages if one.method.endswith("/cancelled")]
    for call in trace.calls:
        asked = requests(call)
        if not call.is_stream or not asked or any(one.id in cancelled for one in asked):
            continue
        answered = all(any(same_id(one.id, reply.id) for reply in call.messages) for one in asked)
        if answered:
            yield from _complete(call, trace)
        elif call.is_over:
            yield from _broken_off(call)


def _complete(call: Call, trace: Trace) -> Iterator[Observation]:
    for row in ("HTTP-14", "HTTP-16"):
        yield observe(row, True, call, expected=RESPONSE, observed="it came")
    if call.is_over or call.channel in trace.left_open:
        observed = "it ended" if call.is_over else "it stayed open"
        yield observe("HTTP-17", call.is_over, call, expected="the end of the stream", observed=observed)


def _broken_off(call: Call) -> Iterator[Observation]:
    observed = "the stream ended before it"
    yield observe("HTTP-16", False, call, expected=RESPONSE, observed=observed)
    # With an id at hand the client may come back for the rest.
    if all(event.event_id is None for _, event in call.events):
        yield observe("HTTP-14", False, call, expected=RESPONSE, observed=observed)
    retried = any(line.startswith(b"retry:") for line in call.body.splitlines())
    yield observe("HTTP-25", retried, call, expected="a `retry` field before the end", observed=observed)


@check(
    "A stream begins as it should: with an id, and past buffers",
    requirements=("HTTP-23", "HTTP-63"),
    transports=HTTP_ONLY,
)
def judge_opening(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if not call.is_stream or call.head is None or not requests(call):
            continue
        said = call.head.get("x-accel-buffering")
        yield observe(
            "HTTP-63", said == "no", call, expected="X-Accel-Buffering: no", observed=said or "no such header"
        )
        if call.events:
            first = call.events[0][1]
            yield observe(
                "HTTP-23",
                first.event_id is not None and not first.data,
                call,
                expected="a first event with an id and empty data",
                observed=f"id {first.event_id}, {len(first.data)} bytes of data",
            )


LISTEN = "subscriptions/listen"


@check(
    "Messages come on the stream that they belong to",
    requirements=("HTTP-15", "HTTP-29"),
    transports=HTTP_ONLY,
)
def judge_related(trace: Trace) -> Iterator[Observation]:
    announced = tokens(trace.calls)
    for call in trace.calls:
        for message in call.messages:
            if not call.is_stream or message.shape not in (Shape.NOTIFICATION, Shape.REQUEST):
                continue
            token = message.params.get("progressToken") if message.method == EVENT_STREAM_PROGRESS else None
            of = None if token is None else announced.get(repr(token))
            if requests(call):
                yield observe(
                    "HTTP-15",
                    not _is_foreign(message, call, of, trace.revision),
                    call,
                    expected=f"messages about {', '.join(one.method for one in requests(call))}",
                    observed=message,
                )
            elif call.sent.method == "GET" and call.resumes is None:
                expected = "messages that belong to no request"
                yield observe("HTTP-29", of is None, call, expected=expected, observed=message)


def _is_foreign(message: Message, call: Call, of: str | None, revision: Revision) -> bool:
    if message.method == EVENT_STREAM_PROGRESS:
        return of != call.channel
    # Where changes are listened for, they have a stream of their own.
    listening = any(one.method == LISTEN for one in call.request_messages)
    tells_changes = message.method.endswith(("/list_changed", "/updated"))
    return revision.opening is Opening.PER_REQUEST and tells_changes and not listening


@check("No request comes on a stream", requirements=("HTTP-62",), everywhere=True, transports=HTTP_ONLY)
def judge_no_requests(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.is_stream:
            asked = [message for message in call.messages if message.shape is Shape.REQUEST]
            observed = asked[0] if asked else "none"
            yield observe("HTTP-62", not asked, call, expected="no JSON-RPC request", observed=observed)


# --- what the checks must catch


@on_block("a request that was hung up on is answered on another stream", breaks="HTTP-20")
def answers_who_left(block: bytes, context: FaultContext) -> bytes:
    if context.method == "subscriptions/listen":
        context.memory["left"] = context.request["id"] if context.request is not None else None
        return block
    answer = {"jsonrpc": "2.0", "id": context.memory.get("left"), "result": {"resultType": "complete"}}
    return b"data: %b\n\n%b" % (msgspec.json.encode(answer), block)


@on_block("what was listened for is told after hanging up, on another stream", breaks="HTTP-21")
def tells_who_left(block: bytes, context: FaultContext) -> bytes:
    if context.method == "subscriptions/listen":
        context.memory["left"] = context.request["id"] if context.request is not None else None
        return block
    meta = {"_meta": {SUBSCRIPTION_KEY: context.memory.get("left")}}
    told = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": meta}
    return b"data: %b\n\n%b" % (msgspec.json.encode(told), block)


@on_call("a request gets 202 and nothing", breaks="HTTP-12")
def accepted_only(request: Request, context: FaultContext) -> Response | None:
    return Response([], 202, b"") if context.method in ("ping", "server/discover") else None


@on_reply("a request is answered with a list of one", breaks="HTTP-12", transports=HTTP_ONLY)
def json_in_a_list(reply: Json, context: FaultContext) -> bytes:
    return b"[%b]" % msgspec.json.encode(reply)


@on_response("a request is answered as text/plain", breaks="HTTP-12")
def plain_text(response: Response, context: FaultContext) -> None:
    if (response.header("content-type") or "").startswith("application/json"):
        response.set("Content-Type", "text/plain")


@on_block(
    "neither a response nor an id to come back with", breaks="HTTP-14", scenario="streams.answer-stream"
)
def never_answers(block: bytes, context: FaultContext) -> bytes:
    return b":\n\n"


@on_block("the stream ends before the response", breaks="HTTP-16", scenario="streams.answer-stream")
def ends_too_early(block: bytes, context: FaultContext) -> bytes:
    return b"" if b'"result"' in block else block


@on_response(
    "the stream stays open after the response",
    breaks="HTTP-17",
    scenario="streams.answer-stream",
    window=lambda revision: revision.http.disconnect_cancels,
    silent=True,
)
def never_ends(response: Response, context: FaultContext) -> None:
    response.lingers = True


@on_block("a connection is dropped without `retry`", breaks="HTTP-25", scenario="streams.answer-stream")
def drops_without_retry(block: bytes, context: FaultContext) -> bytes:
    return b"" if b'"result"' in block or b"retry:" in block else block


@on_block("a stream does not begin with an empty event", breaks="HTTP-23")
def unprimed(block: bytes, context: FaultContext) -> bytes:
    return block if b'"jsonrpc"' in block else b":\n\n"


@on_response("X-Accel-Buffering is missing", breaks="HTTP-63")
def buffered(response: Response, context: FaultContext) -> None:
    response.set("X-Accel-Buffering", None)


CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


@on_reply(
    "a change of the list comes on the stream of another request",
    breaks="HTTP-15",
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.disconnect_cancels,
    scenario="streams.answer-stream",
)
def changes_to_everyone(reply: Json, context: FaultContext) -> list[Json]:
    return [CHANGED, reply] if context.streams else [reply]


PROGRESS = {
    "jsonrpc": "2.0",
    "method": "notifications/progress",
    "params": {"progressToken": "of-somebody-else", "progress": 1},
}


@on_reply(
    "progress of another request comes before the response",
    breaks="HTTP-15",
    transports=HTTP_ONLY,
    scenario="streams.answer-stream",
)
def foreign_progress(reply: Json, context: FaultContext) -> list[Json]:
    return [PROGRESS, reply] if context.streams else [reply]


STREAM = [("Content-Type", "text/event-stream")]


@on_call("progress of a request comes on the stream of no request", breaks="HTTP-29")
def progress_to_listeners(request: Request, context: FaultContext) -> Response | None:
    if (token := context.meta.get("progressToken")) is not None:
        context.memory["token"] = token
    if request.method != "GET":
        return None
    progress = {"progressToken": context.memory.get("token"), "progress": 1}
    told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}
    return Response(STREAM, 200, b"data: %b\n\n" % msgspec.json.encode(told))


ASKED = {"jsonrpc": "2.0", "id": "roots-1", "method": "roots/list"}


@on_reply(
    "a request comes on the stream of a response",
    breaks="HTTP-62",
    transports=HTTP_ONLY,
    scenario="streams.answer-stream",
)
def asks_on_the_stream(reply: Json, context: FaultContext) -> list[Json]:
    return [ASKED, reply] if context.streams else [reply]
