"""Streams opened by GET: event ids, exclusivity, resumption."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    result_reply,
    scenario,
)
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.event_stream import (
    STREAM_FIRST,
    Fingerprint,
    fingerprint,
    requests,
    stream,
    streams_by_message,
)

# --- what is asked


@scenario(
    "Resume event streams",
    exercises=("streams.resumption", "streams.event-ids", "streams.answer-type"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions and revision.http.resumable,
)
async def drive_resumption(stage: Stage) -> None:
    peer = await stage.open()
    names = ("of the first session", "of the first session, too")
    pings = [await peer.start("ping", headers=STREAM_FIRST, request_id=name) for name in names]
    for pending in pings:
        await peer.answer(pending)
    for pending in pings:
        for name in pending.sent.event_ids[:1] if pending.sent is not None else ():
            await peer.wait_accepted(await peer.http.listen(after=name))
            await peer.sentinel()
            other = await stage.open()
            await other.wait_accepted(await other.http.listen(after=name))
            await other.sentinel()


@scenario(
    "Open a stream by GET beside requests",
    exercises=("streams.get-answer", "streams.one-stream", "streams.event-ids", "streams.related"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive_listening(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping", {"_meta": {"progressToken": "before"}}, headers=STREAM_FIRST)
    await peer.wait_accepted(await peer.http.listen())
    pings = [
        await peer.start("ping", {"_meta": {"progressToken": token}}, headers=STREAM_FIRST)
        for token in ("one", "other")
    ]
    for pending in pings:
        await peer.answer(pending)


# --- how it is judged


@check(
    "A resumed stream replays only its own messages",
    requirements=("HTTP-35",),
    transports=HTTP_ONLY,
    everywhere=True,
)
def judge_resumption(trace: Trace) -> Iterator[Observation]:
    origins = {
        (call.request.connection, event.event_id): call
        for call in trace.calls
        for _, event in call.events
        if event.event_id and call.resumes is None
    }
    streams = streams_by_message(trace)
    yield from _judge_other_sessions(trace)
    for call in trace.calls:
        origin = origins.get((call.request.connection, call.resumes or ""))
        if origin is not None and call.is_stream:
            foreign = [message for message in call.messages if _is_foreign(message, origin, streams)]
            expected = f"only messages of the stream with event {call.resumes}"
            observed = foreign[0] if foreign else "no others"
            yield observe("HTTP-35", not foreign, origin, call, expected=expected, observed=observed)


def _judge_other_sessions(trace: Trace) -> Iterator[Observation]:
    """An event id is worth nothing in another session."""
    own: dict[str, set[str]] = {}
    for exchange in trace.exchanges():
        own.setdefault(exchange.request.frame.connection, set()).add(repr(exchange.request.id))
    for call in trace.calls:
        if call.resumes is None or not call.is_stream:
            continue
        connection = call.request.connection
        others = set[str]().union(*(ids for name, ids in own.items() if name != connection))
        others -= own.get(connection, set())
        foreign = [each for each in call.messages if each.is_response and repr(each.id) in others]
        expected = "no response to a request of another session"
        observed = foreign[0] if foreign else "none"
        yield observe("HTTP-35", not foreign, call, expected=expected, observed=observed)


def _is_foreign(message: Message, origin: Call, streams: dict[Fingerprint, list[Call]]) -> bool:
    mark = fingerprint(message)
    calls = streams.get(mark, []) if mark is not None else []
    ids = [repr(request.id) for request in requests(origin)]
    misplaced = message.is_response and bool(ids) and repr(message.id) not in ids
    return misplaced or (bool(calls) and origin not in calls)


@check("GET is answered with an event stream or 405", requirements=("HTTP-28",), transports=HTTP_ONLY)
def judge_get_answer(trace: Trace) -> Iterator[Observation]:
    connections: set[str] = set()
    for call in trace.calls:
        connection = call.request.connection
        # Servers may refuse a second stream beside the first.
        first = call.resumes is None and connection not in connections
        if call.sent.method == "GET" and first and call.head is not None:
            connections.add(connection)
            valid, expected = call.is_stream or call.status == 405, "text/event-stream, or status 405"
            observed = f"status {call.status}, content-type {call.head.media_type or 'missing'}"
            yield observe("HTTP-28", valid, call, expected=expected, observed=observed)


@check(
    "Each message comes on one stream",
    requirements=("HTTP-30", "HTTP-31"),
    transports=HTTP_ONLY,
    everywhere=True,
    history=True,
)
def judge_one_stream(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.sent.method == "GET" and call.is_stream and call.resumes is None:
            responses = [message for message in call.messages if message.is_response]
            expected, observed = "no response on a GET stream", responses[0] if responses else "none"
            yield observe("HTTP-30", not responses, call, expected=expected, observed=observed)
    for (_, kind, name), calls in streams_by_message(trace).items():
        expected = f"the {kind} {name} on one stream"
        observed = f"on {', '.join(call.channel for call in calls)}"
        yield observe("HTTP-31", len(calls) == 1, *calls, expected=expected, observed=observed)


Occurrence = tuple[Call, bytes]
"""The call and the data of an event."""


@check("Event ids are unique in a session", requirements=("HTTP-32",), transports=HTTP_ONLY, everywhere=True)
def judge_event_ids(trace: Trace) -> Iterator[Observation]:
    by_id: dict[tuple[str, str], list[Occurrence]] = {}
    for call in trace.calls:
        for _, event in call.events:
            if event.event_id:
                by_id.setdefault((call.request.connection, event.event_id), []).append((call, event.data))
    for (_, name), (first, *later) in by_id.items():
        others = [call for call, data in later if not _may_share(first, (call, data))]
        expected, observed = f"one event with id {name}", f"{1 + len(others)} of them"
        yield observe("HTTP-32", not others, first[0], *others, expected=expected, observed=observed)


def _may_share(first: Occurrence, second: Occurrence) -> bool:
    """Whether two events with the same id can be the same event, or mark the same place in a stream."""
    (call, data), (other_call, other_data) = first, second
    replayed = call.sent.method == other_call.sent.method == "GET" or other_call.resumes is not None
    return replayed and (data == other_data or not data or not other_data)


# --- what the checks must catch


def _replay(request: Request, context: FaultContext) -> Response | None:
    resumes = request.method == "GET" and request.header("last-event-id") is not None
    return stream(*context.memory.get("replies", [])) if resumes else None


@on_reply("replays the messages of all streams", breaks="HTTP-35", transports=HTTP_ONLY, call=_replay)
def replays_everything(reply: Json, context: FaultContext) -> Json:
    context.memory.setdefault("replies", []).append(reply)
    return reply


def _replay_to_anybody(request: Request, context: FaultContext) -> Response | None:
    """Replays a stream in any session: event ids are looked up without it."""
    if request.method != "GET" or request.header("last-event-id") is None:
        return None
    session, own = request.header("mcp-session-id"), context.shared.get("session")
    return stream(context.shared["reply"]) if own is not None and session != own else None


@on_reply(
    "replays a stream of another session", breaks="HTTP-35", transports=HTTP_ONLY, call=_replay_to_anybody
)
def replays_to_anybody(reply: Json, context: FaultContext) -> Json:
    if context.method == "ping" and context.call is not None:
        context.shared.setdefault("session", context.call.header("mcp-session-id"))
        context.shared.setdefault("reply", reply)
    return reply


@on_call("answers GET with 400", breaks="HTTP-28")
def get_is_bad_request(request: Request, context: FaultContext) -> Response | None:
    return Response([], 400, b"no body") if request.method == "GET" else None


@on_call("answers GET with a page of HTML", breaks="HTTP-28")
def page_for_browsers(request: Request, context: FaultContext) -> Response | None:
    page = Response([("Content-Type", "text/html")], 200, b"<h1>MCP server</h1>")
    return page if request.method == "GET" else None


@on_call("sends a response on a GET stream", breaks="HTTP-30")
def answers_to_listeners(request: Request, context: FaultContext) -> Response | None:
    if context.method == "ping" and context.request is not None and "reply" not in context.memory:
        context.memory["reply"] = result_reply(context.request, {})
        return Response([], 202, b"")
    return _repeat(request, context)


def _repeat(request: Request, context: FaultContext) -> Response | None:
    repeats = request.method == "GET" and "reply" in context.memory
    return stream(context.memory["reply"]) if repeats else None


@on_reply("sends a response on two streams", breaks="HTTP-31", transports=HTTP_ONLY, call=_repeat)
def broadcast(reply: Json, context: FaultContext) -> Json:
    if context.method == "ping":
        context.memory["reply"] = reply
    return reply


@on_block("counts event ids from the start on each stream", breaks="HTTP-32")
def ids_by_stream(block: bytes, context: FaultContext) -> bytes:
    return re.sub(rb"(?m)^id: \d+-", b"id: ", block)


@on_block("sends the same id with all events", breaks="HTTP-32")
def one_id(block: bytes, context: FaultContext) -> bytes:
    return re.sub(rb"(?m)^id: .*$", b"id: of-this-session", block)
