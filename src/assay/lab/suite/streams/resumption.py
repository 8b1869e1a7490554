"""Streams opened by GET: event ids, exclusivity, resumption."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    scenario,
)
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.event_stream import STREAM_FIRST, Fingerprint, fingerprint, requests, streams_by_message

# --- what is asked


@scenario(
    "Streams that are gone on with",
    exercises=("streams.resumption", "streams.event-ids", "streams.answer-type"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions and revision.http.resumable,
)
async def drive_resumption(stage: Stage) -> None:
    peer = await stage.open()
    asked = [await peer.start("ping", headers=STREAM_FIRST) for _ in range(2)]
    for pending in asked:
        await peer.answer(pending)
    for pending in asked:
        ids = pending.sent.event_ids if pending.sent is not None else []
        if ids:
            await peer.wait_accepted(await peer.http.listen(after=ids[0]))
            await peer.sentinel()


@scenario(
    "A stream for what belongs to no request",
    exercises=("streams.get-answer", "streams.one-stream", "streams.event-ids", "streams.related"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive_listening(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping", {"_meta": {"progressToken": "before"}}, headers=STREAM_FIRST)
    await peer.wait_accepted(await peer.http.listen())
    asked = [
        await peer.start("ping", {"_meta": {"progressToken": name}}, headers=STREAM_FIRST)
        for name in ("one", "other")
    ]
    for pending in asked:
        await peer.answer(pending)


# --- how it is judged


@check("A resumed stream replays nothing of another", requirements=("HTTP-35",), transports=HTTP_ONLY)
def judge_resumption(trace: Trace) -> Iterator[Observation]:
    home = {
        (call.request.connection, event.event_id): call
        for call in trace.calls
        for _, event in call.events
        if event.event_id and call.resumes is None
    }
    sent = streams_by_message(trace)
    for call in trace.calls:
        origin = home.get((call.request.connection, call.resumes or ""))
        if origin is not None and call.is_stream:
            foreign = [one for one in call.messages if _is_foreign(one, origin, sent)]
            yield observe(
                "HTTP-35",
                not foreign,
                origin,
                call,
                expected=f"only messages of the stream that {call.resumes} belongs to",
                observed=foreign[0] if foreign else "none of another",
            )


def _is_foreign(message: Message, origin: Call, sent: dict[Fingerprint, list[Call]]) -> bool:
    mark = fingerprint(message)
    elsewhere = sent.get(mark, []) if mark is not None else []
    asked = [repr(one.id) for one in requests(origin)]
    misplaced = message.is_response and bool(asked) and repr(message.id) not in asked
    return misplaced or (bool(elsewhere) and origin not in elsewhere)


@check("GET is answered with an event stream or 405", requirements=("HTTP-28",), transports=HTTP_ONLY)
def judge_get_answer(trace: Trace) -> Iterator[Observation]:
    seen: set[str] = set()
    for call in trace.calls:
        connection = call.request.connection
        # A second stream beside the first is more than everyone offers.
        if call.sent.method != "GET" or call.resumes is not None or call.head is None or connection in seen:
            continue
        seen.add(connection)
        yield observe(
            "HTTP-28",
            call.is_stream or call.status == 405,
            call,
            expected="text/event-stream, or status 405",
            observed=f"status {call.status}, content-type {call.head.media_type or 'missing'}",
        )


@check("Each message comes on one stream", requirements=("HTTP-30", "HTTP-31"), transports=HTTP_ONLY)
def judge_one_stream(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.sent.method == "GET" and call.is_stream and call.resumes is None:
            responses = [message for message in call.messages if message.is_response]
            yield observe(
                "HTTP-30",
                not responses,
                call,
                expected="no response on a stream that belongs to no request",
                observed=responses[0] if responses else "none",
            )
    for (_, kind, name), calls in streams_by_message(trace).items():
        yield observe(
            "HTTP-31",
            len(calls) == 1,
            *calls,
            expected=f"the {kind} {name} on one stream",
            observed=f"on {', '.join(call.channel for call in calls)}",
        )


Seen = tuple[Call, bytes]


@check("Event ids are unique in a session", requirements=("HTTP-32",), transports=HTTP_ONLY)
def judge_event_ids(trace: Trace) -> Iterator[Observation]:
    found: dict[tuple[str, str], list[Seen]] = {}
    for call in trace.calls:
        for _, event in call.events:
            if event.event_id:
                found.setdefault((call.request.connection, event.event_id), []).append((call, event.data))
    for (_, name), seen in found.items():
        others = [one for one in seen[1:] if not may_share(seen[0], one)]
        yield observe(
            "HTTP-32",
            not others,
            seen[0][0],
            *(call for call, _ in others),
            expected=f"one event with id {name}",
            observed=f"{1 + len(others)} of them",
        )


def may_share(one: Seen, other: Seen) -> bool:
    """Whether two events with one id can be the same event, or mark the same place in a stream."""
    (first, before), (second, after) = one, other
    again = {first.sent.method, second.sent.method} == {"GET"} or second.resumes is not None
    return again and (before == after or not before or not after)


# --- what the checks must catch


STREAM = [("Content-Type", "text/event-stream")]


def resume(request: Request, context: FaultContext) -> Response | None:
    if request.method != "GET" or request.header("last-event-id") is None:
        return None
    replayed = (b"data: %b\n\n" % msgspec.json.encode(reply) for reply in context.memory.get("said", []))
    return Response(STREAM, 200, b"".join(replayed))


@on_reply(
    "a resumed stream replays the messages of all streams",
    breaks="HTTP-35",
    transports=HTTP_ONLY,
    call=resume,
)
def replays_everything(reply: Json, context: FaultContext) -> Json:
    context.memory.setdefault("said", []).append(reply)
    return reply


@on_call("GET gets 400", breaks="HTTP-28")
def get_is_bad_request(request: Request, context: FaultContext) -> Response | None:
    return Response([], 400, b"no body") if request.method == "GET" else None


@on_call("GET gets a page of HTML", breaks="HTTP-28")
def page_for_browsers(request: Request, context: FaultContext) -> Response | None:
    if request.method != "GET":
        return None
    return Response([("Content-Type", "text/html")], 200, b"<h1>MCP server</h1>")


@on_call("a response comes on the stream of no request", breaks="HTTP-30")
def answers_to_listeners(request: Request, context: FaultContext) -> Response | None:
    if context.method == "ping" and context.request is not None and "kept" not in context.memory:
        context.memory["kept"] = {"jsonrpc": "2.0", "id": context.request["id"], "result": {}}
        return Response([], 202, b"")
    if request.method != "GET" or "kept" not in context.memory:
        return None
    return Response(STREAM, 200, b"data: %b\n\n" % msgspec.json.encode(context.memory["kept"]))


def listen(request: Request, context: FaultContext) -> Response | None:
    if request.method != "GET" or "said" not in context.memory:
        return None
    return Response(STREAM, 200, b"data: %b\n\n" % msgspec.json.encode(context.memory["said"]))


@on_reply("a response comes on two streams", breaks="HTTP-31", transports=HTTP_ONLY, call=listen)
def broadcast(reply: Json, context: FaultContext) -> Json:
    if context.method == "ping":
        context.memory["said"] = reply
    return reply


@on_block("event ids are counted anew on each stream", breaks="HTTP-32")
def ids_by_stream(block: bytes, context: FaultContext) -> bytes:
    return re.sub(rb"(?m)^id: \d+-", b"id: ", block)


@on_block("all events have the same id", breaks="HTTP-32")
def one_id(block: bytes, context: FaultContext) -> bytes:
    return re.sub(rb"(?m)^id: .*$", b"id: of-this-session", block)
