"""HTTP streams: heartbeat, resumption, loss, retries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

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
    on_request,
    on_response,
    scenario,
)
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY, declared, param_headers
from assay.lab.harness.driver.peer import Peer, Pending, encode
from assay.lab.harness.links.http import has_comment
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON, write_request
from assay.lab.harness.links.link import Sent
from assay.lab.harness.sabotage.saboteur import LocalAnswer
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.declaration import profile_check
from assay.lab.suite.event_stream import STREAM_FIRST
from assay.model.error import INVALID_REQUEST

PREFIX: Final = "CONF-TPT-01.http"
MAX_SILENCE: Final = 30.0
"""Seconds between two comments, at most."""
SILENT: Final = "no comment"
"""The mark of a stream on which the driver waited in vain for a comment."""

# --- what is asked


ENOUGH: Final = 4
"""Tools to call: more streams show nothing new."""


async def _enable_logs(stage: Stage, peer: Peer) -> None:
    if stage.facts.declares("logging") and "logging/setLevel" in stage.revision.requests:
        await peer.request("logging/setLevel", {"level": "debug"})


async def _start_calls(stage: Stage, peer: Peer) -> list[Pending]:
    """Call read-only tools with a preference for streams, and ask for logs and progress."""
    pending = []
    for tool in stage.facts.quick_tools[:ENOUGH]:
        arguments = stage.facts.arguments_for(tool)
        meta: Json = {"progressToken": f"of-{tool['name']}"}
        if stage.revision.logs_on_demand:
            meta[LOG_LEVEL_KEY] = "debug"
        mirrored = param_headers(tool, arguments) if stage.revision.http.mirrored else {}
        params = {"name": tool["name"], "arguments": arguments, "_meta": meta}
        pending.append(await peer.start("tools/call", params, headers={**STREAM_FIRST, **mirrored}))
    return pending


@scenario(
    "Send requests with a preference for either kind of answer",
    exercises=("tpt.http-sse",),
    transports=HTTP_ONLY,
)
async def drive_http_answers(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.request(stage.plain, headers=STREAM_FIRST)
    await _enable_logs(stage, peer)
    for pending in await _start_calls(stage, peer):
        await peer.answer(pending)


FILTERS: Final = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}
TIMES: Final = 3
"""How many times longer than for an answer the driver waits for a comment."""


@scenario("Open a stream and wait", exercises=("tpt.http-heartbeat",), transports=HTTP_ONLY)
async def drive_http_heartbeat(stage: Stage) -> None:
    peer = await stage.open()
    sent = await _idle_stream(stage, peer)
    if sent is None:
        return
    head = await peer.wait_accepted(sent)
    if head is not None and not sent.may_stream:
        return
    patience = min(MAX_SILENCE, TIMES * stage.patience)
    # A comment at the opening of a stream is not yet a heartbeat.
    beats = await sent.commented(patience) and await sent.commented(patience)
    if not beats and sent.may_stream and not sent.is_finished:
        peer.mark(SILENT, stream=sent.channel, waited=patience)
    await peer.http.abort(sent)


async def _idle_stream(stage: Stage, peer: Peer) -> Sent | None:
    """The stream for messages that belong to no request, if the server can have one."""
    if "subscriptions/listen" not in stage.revision.requests:
        return await peer.http.listen() if stage.revision.http.sessions else None
    filters = {key: True for name, key in FILTERS.items() if stage.facts.declares(name, "listChanged")}
    if not filters:
        return None
    return (await peer.start("subscriptions/listen", {"notifications": filters})).sent


@scenario("Break connections at different moments", exercises=("tpt.http-loss",), transports=HTTP_ONLY)
async def drive_http_loss(stage: Stage) -> None:
    peer = await stage.open()
    await _cut_request(stage, peer)
    await _retry(stage, peer, "cut in the request")
    unread = await peer.start(stage.plain, request_id="unread")
    assert unread.sent is not None
    await peer.http.abort(unread.sent)
    await _retry(stage, peer, "cut before the answer")
    begun = await peer.start(stage.plain, request_id="begun", headers=STREAM_FIRST)
    assert begun.sent is not None
    await begun.sent.begun(stage.patience)
    await peer.http.abort(begun.sent)
    await _retry(stage, peer, "cut in the answer")


async def _cut_request(stage: Stage, peer: Peer) -> None:
    message = {"jsonrpc": "2.0", "id": "cut", "method": stage.plain}
    body = encode({**message, "params": declared(stage.revision, {}, {})})
    headers = {"Host": peer.http.address.authority, **peer.http.default_headers(message)}
    fields = [(name, value) for name, value in headers.items() if value is not None]
    fields.append(("Content-Length", str(len(body))))
    data = write_request("POST", peer.http.address.target, fields, body)
    await peer.http.abort(await peer.http.write("POST", data[: -len(body) // 2]))


async def _retry(stage: Stage, peer: Peer, after: str) -> None:
    async with peer.probe("again", after=after):
        await peer.request(stage.plain)


WITH_EVENT_ID: Final = "with an event id"
SENT_AGAIN: Final = "sent again"


@scenario(
    "Send a request again after its stream was lost",
    exercises=("tpt.http-reissue",),
    transports=HTTP_ONLY,
    window=lambda revision: not revision.http.resumable,
)
async def drive_http_reissue(stage: Stage) -> None:
    peer = await stage.open()
    async with peer.probe(WITH_EVENT_ID):
        await peer.request(stage.plain, headers={**STREAM_FIRST, "Last-Event-ID": "stream-1-7"})
    lost = await peer.start(stage.plain, headers=STREAM_FIRST)
    assert lost.sent is not None
    await peer.http.abort(lost.sent)
    async with peer.probe(SENT_AGAIN):
        await peer.request(stage.plain, headers=STREAM_FIRST)


@scenario(
    "Resume streams after their first event",
    exercises=("tpt.http-resume",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions and revision.http.resumable,
)
async def drive_http_resume(stage: Stage) -> None:
    peer = await stage.open()
    await _enable_logs(stage, peer)
    requests = [await peer.start("ping", headers=STREAM_FIRST), *await _start_calls(stage, peer)]
    for pending in requests:
        await peer.answer(pending)
    for pending in requests:
        ids = pending.sent.event_ids if pending.sent is not None else []
        if ids:
            await peer.wait_accepted(await peer.http.listen(after=ids[0]))
            await peer.sentinel()


# --- how it is judged


@profile_check(
    "Requests are answered with JSON or an event stream",
    requirements=(f"{PREFIX}.sse",),
    transports=HTTP_ONLY,
)
def judge_http_sse(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        has_request = any(message.shape is Shape.REQUEST for message in call.request_messages)
        if has_request and call.sent.method == "POST" and call.status == 200:
            problem = _problem(call)
            expected = f"one object as {JSON}, or messages as {EVENT_STREAM}"
            observed = problem or "that"
            yield observe(f"{PREFIX}.sse", problem is None, call, expected=expected, observed=observed)


def _problem(call: Call) -> str | None:
    assert call.head is not None
    kind = call.head.media_type
    if kind == JSON:
        return None if _is_object(call.body) else f"{call.body[:80]!r}"
    if kind != EVENT_STREAM:
        return f"Content-Type {kind or 'missing'}"
    invalid = [event.data for _, event in call.events if event.data and not _is_object(event.data)]
    return f"an event with {invalid[0][:80]!r}" if invalid else None


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


@profile_check("Idle streams have comments", requirements=(f"{PREFIX}.heartbeat",), transports=HTTP_ONLY)
def judge_http_heartbeat(trace: Trace) -> Iterator[Observation]:
    silent = {mark.info.get("stream"): mark for mark in trace.marks(SILENT)}
    for call in trace.calls:
        mark = silent.get(call.channel)
        comments = any(frame.kind is Kind.EVENT and has_comment(frame.raw) for frame in call.received)
        if comments or (mark is not None and (call.is_stream or call.head is None)):
            expected = f"a comment at least every {MAX_SILENCE:g} s"
            further = "no second one" if comments else "none"
            observed = f"{further} in {'' if mark is None else mark.info.get('waited')} s"
            marks, holds = () if mark is None else (mark,), mark is None
            yield observe(f"{PREFIX}.heartbeat", holds, call, *marks, expected=expected, observed=observed)


@profile_check(
    "A broken connection does not affect later requests",
    requirements=(f"{PREFIX}.loss",),
    transports=HTTP_ONLY,
)
def judge_http_loss(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("again"):
        ids = [message.id for message in probe.sent]
        answers = [answer for answer in probe.answers if answer.id in ids]
        holds = len(probe.answers) == len(answers) == 1 and "result" in answers[0].fields
        expected = f"one result for the request after a connection was {probe.info.get('after')}"
        observed = "; ".join(map(str, probe.answers)) or "no answer"
        yield observe(f"{PREFIX}.loss", holds, probe, expected=expected, observed=observed)


REISSUED: Final = {
    WITH_EVENT_ID: "a result, as without Last-Event-ID",
    SENT_AGAIN: "a result under the new id",
}


@profile_check("A request can be sent again", requirements=(f"{PREFIX}.reissue",), transports=HTTP_ONLY)
def judge_http_reissue(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes(*REISSUED):
        holds = len(probe.answers) == 1 and "result" in probe.answers[0].fields
        expected, observed = REISSUED[probe.label], probe.answers[0] if probe.answers else "no answer"
        yield observe(f"{PREFIX}.reissue", holds, probe, expected=expected, observed=observed)


@profile_check("Streams can be resumed", requirements=(f"{PREFIX}.resume",), transports=HTTP_ONLY)
def judge_http_resume(trace: Trace) -> Iterator[Observation]:
    streams = [call for call in trace.calls if call.is_stream and call.sent.method == "POST"]
    origins: dict[str, Call] = {}
    for stream in streams:
        ids = [event.event_id for _, event in stream.events if event.event_id]
        origins |= dict.fromkeys(ids, stream)
        if stream.events and not ids:
            expected, observed = "events with ids", "events without ids"
            yield observe(f"{PREFIX}.resume", False, stream, expected=expected, observed=observed)
    for call in trace.calls:
        origin = origins.get(call.resumes or "")
        if origin is not None and call.head is not None:
            yield _judge_resumption(origin, call)


def _judge_resumption(origin: Call, call: Call) -> Observation:
    missed, received = _messages(origin, after=call.resumes), _messages(call)
    foreign = next((data for data in received if data not in missed), None)
    observed = f"{len(received)} events" if call.is_stream else f"status {call.status}"
    if foreign is not None:
        observed = f"{foreign[:80]!r}, which is not part of the stream"
    holds = call.is_stream and received == missed
    expected = f"exactly the {len(missed)} events after {call.resumes}, each once"
    return observe(f"{PREFIX}.resume", holds, origin, call, expected=expected, observed=observed)


def _messages(call: Call, after: str | None = None) -> list[bytes]:
    """The messages on a stream, or those after an event."""
    events = [event for _, event in call.events]
    begin = 0 if after is None else [event.event_id for event in events].index(after) + 1
    return [event.data for event in events[begin:] if event.data]


# --- what the checks must catch


@on_response("answers as text/plain", breaks=f"{PREFIX}.sse")
def http_sse_plain(response: Response, context: FaultContext) -> None:
    is_post = context.call is not None and context.call.method == "POST"
    if is_post and response.status == 200 and response.header("mcp-session-id") is None:
        response.set("Content-Type", "text/plain")


@on_block("sends no comments", breaks=f"{PREFIX}.heartbeat", silent=True)
def http_heartbeat_none(block: bytes, context: FaultContext) -> bytes:
    return b"" if block.startswith(b":") else block


@on_block("sends a comment only when a stream opens", breaks=f"{PREFIX}.heartbeat", silent=True)
def http_heartbeat_once(block: bytes, context: FaultContext) -> bytes:
    if not block.startswith(b":"):
        return block
    comments = context.memory["comments"] = context.memory.get("comments", 0) + 1
    return block if comments == 1 else b""


@on_request("refuses a second request with the same method", breaks=f"{PREFIX}.loss", transports=HTTP_ONLY)
def http_loss_duplicate(message: Json, context: FaultContext) -> Json | LocalAnswer:
    method, id = message.get("method"), message.get("id")
    if method not in ("ping", "server/discover") or str(id).startswith("sentinel"):
        return message
    methods = context.memory.setdefault("methods", set())
    if method in methods:
        error = {"code": INVALID_REQUEST, "message": "duplicate request"}
        return LocalAnswer([{"jsonrpc": "2.0", "id": id, "error": error}])
    methods.add(method)
    return message


BODY: Final = b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"streams cannot be resumed"}}'


@on_call("refuses requests with Last-Event-ID", breaks=f"{PREFIX}.reissue")
def http_reissue_refused(request: Request, context: FaultContext) -> Response | None:
    if request.header("Last-Event-ID") is None:
        return None
    return Response(headers=[("Content-Type", "application/json")], status=400, body=BODY)


@on_call("ignores Last-Event-ID", breaks=f"{PREFIX}.resume")
def http_resume_all(request: Request, context: FaultContext) -> None:
    request.set("Last-Event-ID", None)


@on_block("sends events without ids", breaks=f"{PREFIX}.resume")
def http_resume_unnumbered(block: bytes, context: FaultContext) -> bytes:
    return b"\n".join(line for line in block.split(b"\n") if not line.startswith(b"id:"))
