"""Event streams that answer a POST."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

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
    result_reply,
    scenario,
)
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY, SUBSCRIPTION_KEY, param_headers
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.event_stream import PROGRESS, STREAM_FIRST, event, requests, stream, token_of, tokens
from assay.lab.suite.subscription import LISTEN
from assay.revisions.revision import Opening, Revision

CHANGED: Final = "notifications/tools/list_changed"

# --- what is asked


MAX_TOOLS: Final = 4


@scenario(
    "Call tools with a preference for event streams",
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
    ended = await _request_stream(peer, stage.plain, {"_meta": {"progressToken": "plain"}})
    if stage.facts.declares("logging") and "logging/setLevel" in stage.revision.requests:
        await peer.request("logging/setLevel", {"level": "debug"})
    for tool in stage.facts.quick_tools[:MAX_TOOLS]:
        # A server that leaves one stream open leaves all open: the driver waits only once.
        ended = ended and await _request_stream(peer, "tools/call", *_call(tool, stage))


def _call(tool: dict[str, Any], stage: Stage) -> tuple[dict[str, Any], dict[str, str]]:
    """Parameters that ask for progress and all log messages, and their headers."""
    revision = stage.revision
    arguments = stage.facts.arguments_for(tool)
    meta: dict[str, Any] = {"progressToken": f"of-{tool['name']}"}
    if revision.logs_on_demand:
        meta[LOG_LEVEL_KEY] = "debug"
    headers = param_headers(tool, arguments) if revision.http.mirrored else {}
    return {"name": tool["name"], "arguments": arguments, "_meta": meta}, headers


async def _request_stream(
    peer: Peer, method: str, params: dict[str, Any], headers: dict[str, str] | None = None
) -> bool:
    """Returns whether the stream of the answer ended."""
    pending = await peer.start(method, params, headers={**STREAM_FIRST, **(headers or {})})
    await peer.answer(pending)
    assert pending.sent is not None
    return await peer.http.follow(pending.sent)


@scenario(
    "Disconnect before the answer to a request",
    exercises=("streams.hang-up", "streams.answer-type"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.disconnect_cancels,
)
async def drive_hang_up(stage: Stage) -> None:
    peer = await stage.open()
    params = {"notifications": {"toolsListChanged": True}, "_meta": {"progressToken": "left"}}
    pending = await peer.start(LISTEN, params)
    assert pending.sent is not None
    # A server without notifications may refuse at once, without a stream.
    if await pending.sent.begun(peer.patience):
        await peer.http.abort(pending.sent)
    for _ in range(2):
        await peer.request(stage.plain, headers=STREAM_FIRST)


# --- how it is judged


@check(
    "A disconnect cancels the request",
    requirements=("HTTP-20", "HTTP-21"),
    transports=HTTP_ONLY,
    everywhere=True,
)
def judge_hang_up(trace: Trace) -> Iterator[Observation]:
    ends = {
        frame.channel: frame.n
        for frame in trace.frames
        if frame.kind is Kind.END and frame.sender is Sender.DRIVER
    }
    expected = "nothing more about the request after the disconnect"
    # On another connection, the same id belongs to another request.
    own = {(call.channel, repr(request.id)) for call in trace.calls for request in requests(call)}
    others = [each for each in trace.received if (each.frame.channel, repr(each.id)) not in own]
    for call in (call for call in trace.calls if call.channel in ends and requests(call)):
        end = ends[call.channel]
        later = [each for each in others if each.frame.n > end and each.frame.channel != call.channel]
        about = [each for each in later if any(_is_about(each, request) for request in requests(call))]
        for requirement, response in (("HTTP-20", True), ("HTTP-21", False)):
            messages = [message for message in about if message.is_response is response]
            observed = messages[0] if messages else "nothing"
            yield observe(requirement, not messages, call, *messages, expected=expected, observed=observed)


def _is_about(message: Message, request: Message) -> bool:
    if message.is_response:
        return repr(message.id) == repr(request.id)
    token = token_of(request)
    has_token = token is not None and repr(message.params.get("progressToken")) == repr(token)
    return has_token or repr(message.meta.get(SUBSCRIPTION_KEY)) == repr(request.id)


@check(
    "A request is answered as JSON or as an event stream",
    requirements=("HTTP-12",),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge_answer_type(trace: Trace) -> Iterator[Observation]:
    ends = [frame for frame in trace.frames if frame.kind is Kind.END]
    left = {frame.channel for frame in ends if frame.sender is Sender.DRIVER}
    for call in (call for call in trace.calls if call.channel not in left):
        if call.head is not None and 200 <= call.status < 300 and requests(call):
            kind = call.head.media_type
            valid = kind == EVENT_STREAM or (kind == JSON and _is_single(call))
            expected = f"one object as {JSON}, or {EVENT_STREAM}"
            observed = f"status {call.status}, {kind or 'no content-type'}, {len(call.messages)} messages"
            yield observe("HTTP-12", valid, call, expected=expected, observed=observed)


def _is_single(call: Call) -> bool:
    if any(message.place is not None for message in call.request_messages):
        return True  # batches have other rules
    return len(call.messages) == 1 and call.messages[0].problem is None and call.messages[0].place is None


RESPONSE: Final = "the response to each request in the POST"


@check(
    "A stream brings the response and ends with it",
    requirements=("HTTP-14", "HTTP-16", "HTTP-17", "HTTP-25"),
    transports=HTTP_ONLY,
    everywhere=True,
)
def judge_delivery(trace: Trace) -> Iterator[Observation]:
    cancelled = [
        each.params.get("requestId") for each in trace.messages if each.method.endswith("/cancelled")
    ]
    names = {repr(request.id): str(request.id) for call in trace.calls for request in requests(call)}
    twins = {name for name, count in Counter(names.values()).items() if count > 1}
    for call in trace.calls:
        ids = [request.id for request in requests(call)]
        if not call.is_stream or not ids or any(name in cancelled for name in ids):
            continue
        if all(any(same_id(name, message.id) for message in call.messages) for name in ids):
            yield from _judge_complete(call, trace)
        # A response with another id, or on the stream of its twin, is judged by `jsonrpc.reply-id`.
        elif call.is_over and not any(message.is_response for message in call.messages):
            yield from _judge_incomplete(call) if twins.isdisjoint(map(str, ids)) else ()


def _judge_complete(call: Call, trace: Trace) -> Iterator[Observation]:
    for requirement in ("HTTP-14", "HTTP-16"):
        yield observe(requirement, True, call, expected=RESPONSE, observed="it came")
    if later := _after_response(call):
        expected = "no message after the response"
        yield observe("HTTP-17", False, call, *later, expected=expected, observed=later[0])
    elif call.is_over or call.channel in trace.left_open:
        observed = "it ended" if call.is_over else "it stayed open"
        yield observe("HTTP-17", call.is_over, call, expected="the end of the stream", observed=observed)


def _after_response(call: Call) -> list[Message]:
    """Messages on the stream of a POST after its last response."""
    last = max(place for place, message in enumerate(call.messages) if message.is_response)
    return list(call.messages[last + 1 :])


def _judge_incomplete(call: Call) -> Iterator[Observation]:
    observed = "the stream ended before it"
    yield observe("HTTP-16", False, call, expected=RESPONSE, observed=observed)
    # With an event id, the client can resume the stream.
    if all(event.event_id is None for _, event in call.events):
        yield observe("HTTP-14", False, call, expected=RESPONSE, observed=observed)
    retried = any(line.startswith(b"retry:") for line in call.body.splitlines())
    yield observe("HTTP-25", retried, call, expected="a `retry` field before the end", observed=observed)


@check(
    "A stream begins with an id and disables buffering",
    requirements=("HTTP-23", "HTTP-63"),
    transports=HTTP_ONLY,
)
def judge_opening(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if not call.is_stream or call.head is None or not requests(call):
            continue
        value, expected = call.head.get("x-accel-buffering"), "X-Accel-Buffering: no"
        yield observe("HTTP-63", value == "no", call, expected=expected, observed=value or "no such header")
        for _, first in call.events[:1]:
            primed = first.event_id is not None and not first.data
            expected = "a first event with an id and empty data"
            observed = f"id {first.event_id}, {len(first.data)} bytes of data"
            yield observe("HTTP-23", primed, call, expected=expected, observed=observed)


@check(
    "Messages come on the stream of their request",
    requirements=("HTTP-15", "HTTP-29"),
    transports=HTTP_ONLY,
    everywhere=True,
)
def judge_related(trace: Trace) -> Iterator[Observation]:
    channels = tokens(trace.calls)
    for call in (call for call in trace.calls if call.is_stream):
        for message in call.messages:
            if message.shape not in (Shape.NOTIFICATION, Shape.REQUEST):
                continue
            token = message.params.get("progressToken") if message.method == PROGRESS else None
            channel = None if token is None else channels.get(repr(token))
            if requests(call):
                related = not _is_foreign(message, call, channel, trace.revision)
                expected = f"messages about {', '.join(request.method for request in requests(call))}"
                yield observe("HTTP-15", related, call, expected=expected, observed=message)
            elif call.sent.method == "GET" and call.resumes is None:
                expected = "messages that belong to no request"
                yield observe("HTTP-29", channel is None, call, expected=expected, observed=message)


def _is_foreign(message: Message, call: Call, channel: str | None, revision: Revision) -> bool:
    if message.method == PROGRESS:
        return channel != call.channel
    # In revisions with listen streams, changes are announced only there.
    listens = any(request.method == LISTEN for request in call.request_messages)
    announces = message.method.endswith(("/list_changed", "/updated"))
    return revision.opening is Opening.PER_REQUEST and announces and not listens


@check("Streams carry no requests", requirements=("HTTP-62",), everywhere=True, transports=HTTP_ONLY)
def judge_no_requests(trace: Trace) -> Iterator[Observation]:
    for call in (call for call in trace.calls if call.is_stream):
        received = [message for message in call.messages if message.shape is Shape.REQUEST]
        observed = received[0] if received else "none"
        yield observe("HTTP-62", not received, call, expected="no JSON-RPC request", observed=observed)


# --- what the checks must catch


IN_ANSWERS: Final = "streams.answer-stream"


def _abandoned(context: FaultContext) -> Any:
    """The id of the listen request; None on its own stream."""
    if context.method == LISTEN and context.request is not None:
        context.memory["left"] = context.request["id"]
        return None
    return context.memory.get("left")


@on_block("answers a request on another stream after its client disconnected", breaks="HTTP-20")
def answers_who_left(block: bytes, context: FaultContext) -> bytes:
    name = _abandoned(context)
    return block if name is None else event(result_reply({"id": name}, {"resultType": "complete"})) + block


@on_block("sends notifications on another stream after a disconnect", breaks="HTTP-21")
def tells_who_left(block: bytes, context: FaultContext) -> bytes:
    name = _abandoned(context)
    params = {"_meta": {SUBSCRIPTION_KEY: name}}
    notice = {"jsonrpc": "2.0", "method": CHANGED, "params": params}
    return block if name is None else event(notice) + block


@on_call("answers a request with 202 and no body", breaks="HTTP-12")
def accepted_only(request: Request, context: FaultContext) -> Response | None:
    return Response([], 202, b"") if context.method in ("ping", "server/discover") else None


@on_reply("answers a request with a list of one", breaks="HTTP-12", transports=HTTP_ONLY)
def json_in_a_list(reply: Json, context: FaultContext) -> bytes:
    return b"[%b]" % msgspec.json.encode(reply)


@on_response("answers a request as text/plain", breaks="HTTP-12")
def plain_text(response: Response, context: FaultContext) -> None:
    if (response.header("content-type") or "").startswith("application/json"):
        response.set("Content-Type", "text/plain")


@on_block("sends neither a response nor an event id", breaks="HTTP-14", scenario=IN_ANSWERS)
def never_answers(block: bytes, context: FaultContext) -> bytes:
    return b":\n\n"


@on_block("ends the stream before the response", breaks="HTTP-16", scenario=IN_ANSWERS)
def ends_too_early(block: bytes, context: FaultContext) -> bytes:
    return b"" if b'"result"' in block else block


@on_response(
    "leaves the stream open after the response",
    breaks="HTTP-17",
    scenario=IN_ANSWERS,
    window=lambda revision: revision.http.disconnect_cancels,
    silent=True,
)
def never_ends(response: Response, context: FaultContext) -> None:
    response.lingers = True


@on_block("drops a connection without `retry`", breaks="HTTP-25", scenario=IN_ANSWERS)
def drops_without_retry(block: bytes, context: FaultContext) -> bytes:
    return b"" if b'"result"' in block or b"retry:" in block else block


@on_block("begins a stream without an empty event", breaks="HTTP-23")
def unprimed(block: bytes, context: FaultContext) -> bytes:
    return block if b'"jsonrpc"' in block else b":\n\n"


@on_response("sends no X-Accel-Buffering", breaks="HTTP-63")
def buffered(response: Response, context: FaultContext) -> None:
    response.set("X-Accel-Buffering", None)


def _inserted(name: str, fault: str, breaks: str, method: str, **members: Any) -> Saboteur:
    """Send a message before each response on a stream."""
    window = members.pop("window", lambda revision: True)

    def change(reply: Json, context: FaultContext) -> list[Json]:
        message = {"jsonrpc": "2.0", "method": method, **members}
        return [message, reply] if context.streams else [reply]

    options: Json = {"transports": HTTP_ONLY, "scenario": IN_ANSWERS, "window": window}
    saboteur: Saboteur = on_reply(fault, id=name, breaks=breaks, **options)(change)
    return saboteur


INSERTED: Final = (
    _inserted(
        "streams.changes-to-everyone",
        "announces a change on the stream of another request",
        "HTTP-15",
        CHANGED,
        window=lambda revision: revision.http.disconnect_cancels,
    ),
    _inserted(
        "streams.foreign-progress",
        "sends progress of another request before the response",
        "HTTP-15",
        PROGRESS,
        params={"progressToken": "of-somebody-else", "progress": 1},
    ),
    _inserted(
        "streams.asks-on-the-stream",
        "sends a request on the stream of a response",
        "HTTP-62",
        "roots/list",
        id="roots-1",
    ),
)


@on_call("sends progress of a request on a GET stream", breaks="HTTP-29")
def progress_to_listeners(request: Request, context: FaultContext) -> Response | None:
    if (token := context.meta.get("progressToken")) is not None:
        context.memory["token"] = token
    params = {"progressToken": context.memory.get("token"), "progress": 1}
    progress = {"jsonrpc": "2.0", "method": PROGRESS, "params": params}
    return stream(progress) if request.method == "GET" else None


@on_reply(
    "sends a notification after the response, on the same stream",
    breaks="HTTP-17",
    transports=HTTP_ONLY,
    scenario="streams.answer-stream",
)
def talks_after_the_response(reply: Json, context: FaultContext) -> list[Json]:
    notice = {"jsonrpc": "2.0", "method": "notifications/example.dev/done"}
    return [reply, notice] if context.streams and "method" not in reply else [reply]
