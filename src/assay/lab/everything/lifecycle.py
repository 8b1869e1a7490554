"""The handshake, sessions and pings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    edited_results,
    observe,
    on_call,
    on_reply,
    on_response,
)
from assay.lab.harness.need import A_SESSION
from assay.lab.harness.trace.trace import Call, Exchange
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.evidence import answered
from assay.lab.suite.http import sessions

from .declaration import official_check, official_scenario
from .evidence import borrow, lacking

# --- what is asked


@official_scenario("server-initialize", "Initialize")
async def drive_server_initialize(stage: Stage) -> None:
    await stage.open()


@official_scenario(
    "server-session-lifecycle",
    "End a session",
    needs=(A_SESSION,),
    transports=HTTP_ONLY,
    aliases=("session-lifecycle",),
)
async def drive_server_session_lifecycle(stage: Stage) -> None:
    peer = await stage.open()
    # The control: the session is served before it ends.
    await peer.request("ping")
    ended = await peer.http.call("DELETE", headers=peer.http.session_headers())
    await ended.settled(peer.patience)
    await peer.request("ping")
    await peer.close()


@official_scenario("ping", "Ping")
async def drive_ping(stage: Stage) -> None:
    await (await stage.open()).request("ping")


# --- how it is judged


INITIALIZE, ASCII = "server-initialize", "server-session-id-visible-ascii"


@official_check(INITIALIZE, "The handshake is complete", requirements=(INITIALIZE, ASCII))
def judge_server_initialize(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "initialize"):
        problem = _problem(exchange, trace.revision.date)
        expected = f"protocolVersion {trace.revision}, capabilities, and serverInfo with name and version"
        yield observe(INITIALIZE, problem is None, exchange, expected=expected, observed=problem)
    yield from _initialized(trace)
    yield from borrow(trace, ASCII, sessions.judge_session_id, "HTTP-37")


def _problem(exchange: Exchange, agreed: str) -> str | None:
    result = exchange.result
    if result is None:
        return str(exchange)
    if result.get("protocolVersion") != agreed:
        return f"protocolVersion {result.get('protocolVersion')!r}"
    if not isinstance(result.get("capabilities"), dict):
        return f"capabilities {result.get('capabilities')!r}"
    server: Any = result.get("serverInfo")
    return lacking(server, "name", "version") if isinstance(server, dict) else "no serverInfo"


def _initialized(trace: Trace) -> Iterator[Observation]:
    """`notifications/initialized` is accepted, as HTTP shows."""
    for call in trace.calls:
        notified = any(message.method == "notifications/initialized" for message in call.request_messages)
        if notified and call.sent.method == "POST" and call.head is not None:
            accepted = 200 <= call.status < 300
            expected = "status 202 for notifications/initialized"
            yield observe(INITIALIZE, accepted, call, expected=expected, observed=f"status {call.status}")


OPENED, INITIALIZED = "server-session-lifecycle-error", "server-session-initialized-accepted"
DELETED, GONE = "server-session-delete-accepted", "server-session-terminated-returns-404"


@official_check(
    "server-session-lifecycle",
    "Clients can end their sessions",
    requirements=(OPENED, INITIALIZED, DELETED, GONE),
    transports=HTTP_ONLY,
)
def judge_server_session_lifecycle(trace: Trace) -> Iterator[Observation]:
    answered = [call for call in trace.calls if call.head is not None]
    for call in answered:
        for row, method in ((OPENED, "initialize"), (INITIALIZED, "notifications/initialized")):
            if any(message.method == method for message in call.request_messages):
                observed = f"status {call.status}"
                yield observe(row, _accepted(call), call, expected=f"success for {method}", observed=observed)
    for end in answered:
        if end.sent.method == "DELETE" and end.session is not None:
            yield from _ended(end, [call for call in answered if call.session == end.session])


def _ended(end: Call, calls: list[Call]) -> Iterator[Observation]:
    before = [call for call in calls if _asks(call) and call.request.n < end.request.n and _accepted(call)]
    after = [call for call in calls if _asks(call) and call.request.n > end.request.n]
    # 405: the server does not let clients end sessions.
    if end.status == 405 or not before or not after:
        return
    gone = after[0].status == 404
    # 404 for the DELETE is correct only if the session has really ended.
    accepted = _accepted(end) or (end.status == 404 and gone)
    observed = f"status {end.status} for DELETE, then {after[0].status}"
    yield observe(DELETED, accepted, end, expected="success or 405 for DELETE", observed=observed)
    if accepted:
        expected = "status 404 for the session that was served before and then ended"
        yield observe(GONE, gone, before[-1], end, after[0], expected=expected, observed=observed)


def _asks(call: Call) -> bool:
    return any(message.method == "ping" for message in call.request_messages)


def _accepted(call: Call) -> bool:
    return 200 <= call.status < 300


@official_check("ping", "A ping is answered with an empty result")
def judge_ping(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("ping"):
        if exchange.answer is not None:
            holds = exchange.result == {}
            yield observe("ping", holds, exchange, expected="the result {}", observed=exchange)


# --- what the checks must catch


@on_call("refuses `notifications/initialized`", breaks="server-initialize")
def initialized_refused(request: Request, context: FaultContext) -> Response | None:
    return Response([], 400, b"") if b"notifications/initialized" in request.body else None


@on_response("issues a session id with a space", breaks="server-session-id-visible-ascii")
def session_with_space(response: Response, context: FaultContext) -> None:
    if (session := response.header("mcp-session-id")) is not None:
        response.set("Mcp-Session-Id", f"session {session}")


@on_call("answers DELETE with 500", breaks="server-session-delete-accepted")
def delete_breaks(request: Request, context: FaultContext) -> Response | None:
    return Response([], 500, b"") if request.method == "DELETE" else None


@on_call("refuses `notifications/initialized` of a session", breaks="server-session-initialized-accepted")
def session_not_ready(request: Request, context: FaultContext) -> Response | None:
    return Response([], 409, b"") if b"notifications/initialized" in request.body else None


@on_call("refuses initialize", breaks="server-session-lifecycle-error")
def initialize_created(request: Request, context: FaultContext) -> Response | None:
    return Response([], 503, b"") if b'"initialize"' in request.body else None


@on_response("answers an ended session with 400", breaks="server-session-terminated-returns-404")
def gone_is_bad_request(response: Response, context: FaultContext) -> None:
    if response.status == 404:
        response.status = 400


@on_call("serves a session that was ended", breaks="server-session-terminated-returns-404")
def session_lives_on(request: Request, context: FaultContext) -> Response | None:
    return Response([], 200, b"") if request.method == "DELETE" else None


@on_reply("answers a ping with a result that is not empty", breaks="ping")
def wordy_pong(reply: Json, context: FaultContext) -> Json:
    if context.method == "ping" and "result" in reply:
        reply["result"] = {"pong": True}
    return reply


RESULT_EDITS: Final = edited_results(
    "initialize",
    ("lifecycle.no-server-info", "initializes without serverInfo", "server-initialize", "serverInfo", ABSENT),
)
