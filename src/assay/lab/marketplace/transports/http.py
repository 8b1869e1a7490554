"""HTTP streams: heartbeat, resumption, loss, retries."""

from __future__ import annotations

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
    observe,
    on_block,
    on_call,
    on_request,
    on_response,
    scenario,
)
from assay.lab.harness.driver.argument import arguments_for
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

FILTERS: Final = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}
SILENT: Final = "no comment"
"""The mark of a stream on which the driver waited for a sign of life in vain."""


async def idle_stream(stage: Stage, peer: Peer) -> Sent | None:
    """The stream for what belongs to no request; none where the server has none."""
    if "subscriptions/listen" not in stage.revision.requests:
        if not stage.revision.http.sessions:
            return None
        return await peer.http.listen()
    wanted = {key: True for name, key in FILTERS.items() if stage.facts.declares(name, "listChanged")}
    if not wanted:
        return None
    pending = await peer.start("subscriptions/listen", {"notifications": wanted})
    return pending.sent


ENOUGH: Final = 4
"""Tools that are called: what one stream shows, the next shows again."""


async def listen_to_logs(stage: Stage, peer: Peer) -> None:
    if stage.facts.declares("logging") and "logging/setLevel" in stage.revision.requests:
        await peer.request("logging/setLevel", {"level": "debug"})


async def start_calls(stage: Stage, peer: Peer) -> list[Pending]:
    """Call a few tools that only read, with a preference for streams."""
    return [
        await peer.start("tools/call", params, headers={**STREAM_FIRST, **repeated})
        for params, repeated in _calls(stage)
    ]


def _calls(stage: Stage) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    for tool in stage.facts.read_only_tools[:ENOUGH]:
        arguments = arguments_for(tool)
        told: dict[str, Any] = {"progressToken": f"of-{tool['name']}"}
        if stage.revision.logs_on_demand:
            told[LOG_LEVEL_KEY] = "debug"
        repeated = param_headers(tool, arguments) if stage.revision.http.mirrored else {}
        yield {"name": tool["name"], "arguments": arguments, "_meta": told}, repeated


# --- what is asked


@scenario("Answers over HTTP", exercises=("tpt.http-sse",), transports=HTTP_ONLY)
async def drive_http_answers(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.request(stage.plain, headers=STREAM_FIRST)
    await listen_to_logs(stage, peer)
    for pending in await start_calls(stage, peer):
        await peer.answer(pending)


LONGEST = 30.0
"""Seconds between two comments, at most."""
TIMES = 3
"""How much longer than for an answer the driver waits here, within that."""


@scenario("A stream on which nothing happens", exercises=("tpt.http-heartbeat",), transports=HTTP_ONLY)
async def drive_http_heartbeat(stage: Stage) -> None:
    peer = await stage.open()
    sent = await idle_stream(stage, peer)
    if sent is None:
        return
    head = await peer.wait_accepted(sent)
    if head is not None and not sent.may_stream:
        return
    patience = min(LONGEST, TIMES * stage.patience)
    if not await sent.commented(patience) and sent.may_stream and not sent.is_finished:
        peer.mark(SILENT, stream=sent.channel, waited=patience)
    await peer.http.abort(sent)


@scenario("Connections that break", exercises=("tpt.http-loss",), transports=HTTP_ONLY)
async def drive_http_loss(stage: Stage) -> None:
    peer = await stage.open()
    await _cut_in_the_request(stage, peer)
    await _again(stage, peer, "cut in the request")
    unread = await peer.start(stage.plain, request_id="unread")
    assert unread.sent is not None
    await peer.http.abort(unread.sent)
    await _again(stage, peer, "cut before the answer")
    begun = await peer.start(stage.plain, request_id="begun", headers=STREAM_FIRST)
    assert begun.sent is not None
    await begun.sent.begun(stage.patience)
    await peer.http.abort(begun.sent)
    await _again(stage, peer, "cut in the answer")


async def _cut_in_the_request(stage: Stage, peer: Peer) -> None:
    message = {"jsonrpc": "2.0", "id": "cut", "method": stage.plain}
    body = encode({**message, "params": declared(stage.revision, {}, {})})
    headers = {"Host": peer.http.address.authority, **peer.http.default_headers(message)}
    fields = [(name, value) for name, value in headers.items() if value is not None]
    whole = [*fields, ("Content-Length", str(len(body)))]
    data = write_request("POST", peer.http.address.target, whole, body)
    await peer.http.abort(await peer.http.write("POST", data[: -len(body) // 2]))


async def _again(stage: Stage, peer: Peer, after: str) -> None:
    async with peer.probe("again", after=after):
        await peer.request(stage.plain)


@scenario(
    "Requests that are sent again",
    exercises=("tpt.http-reissue",),
    transports=HTTP_ONLY,
    window=lambda revision: not revision.http.resumable,
)
async def drive_http_reissue(stage: Stage) -> None:
    peer = await stage.open()
    async with peer.probe("with an event id"):
        await peer.request(stage.plain, headers={**STREAM_FIRST, "Last-Event-ID": "stream-1-7"})
    lost = await peer.start(stage.plain, headers=STREAM_FIRST)
    assert lost.sent is not None
    await peer.http.abort(lost.sent)
    async with peer.probe("sent again"):
        await peer.request(stage.plain, headers=STREAM_FIRST)


@scenario(
    "Streams that are returned to",
    exercises=("tpt.http-resume",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions and revision.http.resumable,
)
async def drive_http_resume(stage: Stage) -> None:
    peer = await stage.open()
    await listen_to_logs(stage, peer)
    asked = [await peer.start("ping", headers=STREAM_FIRST), *await start_calls(stage, peer)]
    for pending in asked:
        await peer.answer(pending)
    for pending in asked:
        ids = pending.sent.event_ids if pending.sent is not None else []
        if ids:
            await peer.wait_accepted(await peer.http.listen(after=ids[0]))
            await peer.sentinel()


# --- how it is judged


ROW = "CONF-TPT-01.http.sse"
EXPECTED = f"one object as {JSON}, or messages as {EVENT_STREAM}"


@profile_check("Answers over HTTP", requirements=(ROW,), transports=HTTP_ONLY)
def judge_http_sse(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        asks = any(one.shape is Shape.REQUEST for one in call.request_messages)
        if asks and call.sent.method == "POST" and call.status == 200:
            problem = _problem(call)
            yield observe(ROW, problem is None, call, expected=EXPECTED, observed=problem or "that")


def _problem(call: Call) -> str | None:
    assert call.head is not None
    kind = call.head.media_type
    if kind == JSON:
        return None if _is_object(call.body) else f"{call.body[:80]!r}"
    if kind != EVENT_STREAM:
        return f"Content-Type {kind or 'missing'}"
    bad = [event.data for _, event in call.events if event.data and not _is_object(event.data)]
    return f"an event with {bad[0][:80]!r}" if bad else None


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


HTTP_HEARTBEAT_ROW = "CONF-TPT-01.http.heartbeat"
HTTP_HEARTBEAT_LONGEST = 30.0


@profile_check("Comments on a silent stream", requirements=(HTTP_HEARTBEAT_ROW,), transports=HTTP_ONLY)
def judge_http_heartbeat(trace: Trace) -> Iterator[Observation]:
    silent = {mark.info.get("stream"): mark for mark in trace.marks(SILENT)}
    for call in trace.calls:
        mark = silent.get(call.channel)
        beats = _has_beat(call)
        if beats or (mark is not None and (call.is_stream or call.head is None)):
            waited = "" if mark is None else mark.info.get("waited")
            yield observe(
                HTTP_HEARTBEAT_ROW,
                beats,
                call,
                *filter(None, (mark,)),
                expected=f"a comment at least every {HTTP_HEARTBEAT_LONGEST:g} s",
                observed=f"none in {waited} s",
            )


def _has_beat(call: Call) -> bool:
    return any(frame.kind is Kind.EVENT and has_comment(frame.raw) for frame in call.received)


HTTP_LOSS_ROW = "CONF-TPT-01.http.loss"


@profile_check("Connections that break", requirements=(HTTP_LOSS_ROW,), transports=HTTP_ONLY)
def judge_http_loss(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("again"):
        answers = [one for one in probe.answers if any(asked.id == one.id for asked in probe.sent)]
        held = len(probe.answers) == len(answers) == 1 and "result" in answers[0].fields
        told = "; ".join(map(str, probe.answers)) or "no answer"
        expected = f"one result for who asks again after a connection was {probe.info.get('after')}"
        yield observe(HTTP_LOSS_ROW, held, probe, expected=expected, observed=told)


HTTP_REISSUE_ROW = "CONF-TPT-01.http.reissue"
HTTP_REISSUE_EXPECTED = {
    "with an event id": "the request is served as if Last-Event-ID were not there",
    "sent again": "the request is served under its new id",
}


@profile_check("Requests that are sent again", requirements=(HTTP_REISSUE_ROW,), transports=HTTP_ONLY)
def judge_http_reissue(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes(*HTTP_REISSUE_EXPECTED):
        results = [one for one in probe.answers if "result" in one.fields]
        observed = probe.answers[0] if probe.answers else "no answer"
        held = len(results) == len(probe.answers) == 1
        yield observe(
            HTTP_REISSUE_ROW, held, probe, expected=HTTP_REISSUE_EXPECTED[probe.label], observed=observed
        )


HTTP_RESUME_ROW = "CONF-TPT-01.http.resume"


@profile_check("Streams that are returned to", requirements=(HTTP_RESUME_ROW,), transports=HTTP_ONLY)
def judge_http_resume(trace: Trace) -> Iterator[Observation]:
    streams = [call for call in trace.calls if call.is_stream and call.sent.method == "POST"]
    for stream in streams:
        numbered = any(event.event_id for _, event in stream.events)
        if stream.events and not numbered:
            expected = "events with ids, to return to the stream by"
            yield observe(HTTP_RESUME_ROW, False, stream, expected=expected, observed="events without ids")
    homes = {event.event_id: stream for stream in streams for _, event in stream.events if event.event_id}
    for call in trace.calls:
        origin = homes.get(call.resumes or "")
        if origin is not None and call.head is not None:
            yield _resumed(origin, call)


def _resumed(origin: Call, call: Call) -> Observation:
    missed = [one for one in _told(origin, after=call.resumes)]
    got = _told(call)
    told = f"{len(got)} events" if call.is_stream else f"status {call.status}"
    strange = next((data for data in got if data not in missed), None)
    problem = told if strange is None else f"{strange[:80]!r}, which belongs elsewhere"
    return observe(
        HTTP_RESUME_ROW,
        call.is_stream and got == missed,
        origin,
        call,
        expected=f"just the {len(missed)} events after {call.resumes}, each once",
        observed=problem,
    )


def _told(call: Call, after: str | None = None) -> list[bytes]:
    """The messages on a stream, or those after an event."""
    found = [(event.event_id, event.data) for _, event in call.events]
    ids = [event_id for event_id, _ in found]
    begin = 0 if after is None else ids.index(after) + 1
    return [data for _, data in found[begin:] if data]


# --- what the checks must catch


@on_response("answers are sent as text/plain", breaks="CONF-TPT-01.http.sse")
def http_sse_plain(response: Response, context: FaultContext) -> None:
    asked = context.call is not None and context.call.method == "POST"
    if asked and response.status == 200 and response.header("mcp-session-id") is None:
        response.set("Content-Type", "text/plain")


@on_block("comments are left out", breaks="CONF-TPT-01.http.heartbeat", silent=True)
def http_heartbeat_none(block: bytes, context: FaultContext) -> bytes:
    return b"" if block.startswith(b":") else block


@on_request("a request like one before is refused", breaks="CONF-TPT-01.http.loss", transports=HTTP_ONLY)
def http_loss_duplicate(message: Json, context: FaultContext) -> Json | LocalAnswer:
    method, number = message.get("method"), message.get("id")
    if method not in ("ping", "server/discover") or str(number).startswith("sentinel"):
        return message
    seen = context.memory.setdefault("seen", set())
    if method in seen:
        error = {"code": INVALID_REQUEST, "message": "this was asked already"}
        return LocalAnswer([{"jsonrpc": "2.0", "id": number, "error": error}])
    seen.add(method)
    return message


BODY = b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"streams are not resumed here"}}'


@on_call("a request with Last-Event-ID is refused", breaks="CONF-TPT-01.http.reissue")
def http_reissue_refused(request: Request, context: FaultContext) -> Response | None:
    if request.header("Last-Event-ID") is None:
        return None
    return Response(headers=[("Content-Type", "application/json")], status=400, body=BODY)


@on_call("Last-Event-ID is lost on the way", breaks="CONF-TPT-01.http.resume")
def http_resume_all(request: Request, context: FaultContext) -> Response | None:
    request.set("Last-Event-ID", None)
    return None


@on_block("events have no ids", breaks="CONF-TPT-01.http.resume")
def http_resume_unnumbered(block: bytes, context: FaultContext) -> bytes:
    lines = block.split(b"\n")
    return b"\n".join(line for line in lines if not line.startswith(b"id:"))
