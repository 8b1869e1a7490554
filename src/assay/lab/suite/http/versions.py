"""The protocol version header, and requests in the style of other revisions."""

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
    on_call,
    on_reply,
    on_response,
    scenario,
)
from assay.lab.harness.driver.message_meta import CLIENT, VERSION_KEY
from assay.lab.harness.links.http_text import EVENT_STREAM
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import METHOD, VERSION, Flaw, is_mismatch, standard_mirrors
from assay.model.error import HEADER_MISMATCH, UNSUPPORTED_VERSION
from assay.revisions.registry import ASSUMED, BY_DATE
from assay.revisions.revision import Revision

# --- what is asked


@scenario(
    "A version header that names no version, or none",
    exercises=("http.bad-version-header",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.version_header,
)
async def drive_version_header(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping")
    await peer.request("ping", headers={"MCP-Protocol-Version": None})
    for nonsense in ("no-version", "1999-12-31"):
        await peer.request("ping", headers={"MCP-Protocol-Version": nonsense})
    await peer.taken(await peer.http.listen(**{"MCP-Protocol-Version": "no-version"}))


OPENING = {
    "jsonrpc": "2.0",
    "id": "older",
    "method": "initialize",
    "params": {"protocolVersion": ASSUMED.date, "capabilities": {}, "clientInfo": CLIENT},
}


@scenario(
    "What older clients send",
    exercises=("http.older-traffic",),
    transports=HTTP_ONLY,
    window=lambda revision: not revision.http.sessions,
)
async def drive_older_traffic(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.offer(OPENING, headers={VERSION: None, METHOD: None})
    await peer.taken(await peer.http.call("GET", headers={"Accept": EVENT_STREAM}))
    deleted = await peer.http.call("DELETE", headers={"Accept": EVENT_STREAM})
    await deleted.settled(peer.patience)
    for header, value in (("Mcp-Session-Id", "of-long-ago"), ("Last-Event-ID", "0"), (VERSION, None)):
        await peer.request(stage.plain, headers={header: value})


# --- how it is judged


@check(
    "What older clients send is told from the rest",
    requirements=("HTTP-53", "HTTP-66", "HTTP-67", "HTTP-68"),
    transports=HTTP_ONLY,
)
def judge_older_traffic(trace: Trace) -> Iterator[Observation]:
    opening = next((call for call in trace.calls if _opens(call)), None)
    if opening is None or opening.head is None:
        return
    agreed = _agreed(opening)
    for call in trace.calls:
        if call is opening or call.head is None:
            continue
        yield from _without_version(call, trace.revision, agreed)
        if agreed is None:
            yield from _to_newcomer(call)


def _opens(call: Call) -> bool:
    return any(message.method == "initialize" for message in call.asked)


def _agreed(opening: Call) -> str | None:
    """The version that an older client was offered; none where it was turned away."""
    found = (message.result.get("protocolVersion") for message in opening.messages)
    return next((version for version in found if isinstance(version, str)), None)


def _without_version(call: Call, revision: Revision, agreed: str | None) -> Iterator[Observation]:
    mirrors = standard_mirrors(call, revision)
    flawed = [one for one in mirrors if one.flaw is not None]
    if len(flawed) != 1 or (flawed[0].header, flawed[0].flaw) != (VERSION, Flaw.MISSING):
        return
    served = BY_DATE.get(agreed or "")
    # Clients from before the header may be served without it, if there are such clients.
    if is_mismatch(call) or served is None or served.http.version_header:
        yield observe(
            "HTTP-53",
            is_mismatch(call),
            call,
            expected=f"status 400 with error {HEADER_MISMATCH}: the version header is missing",
            observed=f"status {call.status}, error {call.code}",
        )


def _to_newcomer(call: Call) -> Iterator[Observation]:
    """A server that has no older revision."""
    status = f"status {call.status}"
    if call.sent.method in ("GET", "DELETE"):
        yield observe("HTTP-66", call.status == 405, call, expected="status 405", observed=status)
        return
    answered = any(message.shape is Shape.RESULT for message in call.messages)
    minted = call.head.get("mcp-session-id") if call.head is not None else None
    if call.session is not None:
        expected = "an answer as without the session id, and none given out"
        observed = f"{status}, session id {minted}"
        yield observe("HTTP-67", answered and minted is None, call, expected=expected, observed=observed)
    if call.resumes is not None:
        expected = "an answer as without Last-Event-ID"
        yield observe("HTTP-68", answered, call, expected=expected, observed=status)


@check(
    "A version header that names no version gets 400, a missing one does no harm",
    requirements=("HTTP-46", "HTTP-47"),
    transports=HTTP_ONLY,
)
def judge_bad_version_header(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.head is None or any(message.method == "initialize" for message in call.asked):
            continue
        version = call.sent.get("mcp-protocol-version")
        if version is None and call.sent.method == "POST":
            yield observe(
                "HTTP-46",
                call.status < 400,
                call,
                expected="the version that the session agreed on, or the assumed one",
                observed=f"status {call.status} without a version header",
            )
        elif version is not None and version not in BY_DATE and not _declines_method(call):
            yield observe(
                "HTTP-47", call.status == 400, call, expected="status 400", observed=f"status {call.status}"
            )


def _declines_method(call: Call) -> bool:
    return call.sent.method != "POST" and call.status == 405


@check(
    "An unsupported version gets 400 and the supported ones", requirements=("HTTP-51",), transports=HTTP_ONLY
)
def judge_unsupported_version(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        mirrors = standard_mirrors(call, trace.revision)
        told = next((one.told for one in mirrors if one.header == VERSION), None)
        if told is None or told in BY_DATE or any(one.flaw for one in mirrors):
            continue
        yield observe(
            "HTTP-51",
            call.status == 400 and call.code == UNSUPPORTED_VERSION and bool(supported(call)),
            call,
            expected=f"status 400 with error {UNSUPPORTED_VERSION} and `data.supported`",
            observed=f"status {call.status}, error {call.code}, supported {supported(call)}",
        )


def supported(call: Call) -> list[str]:
    """The versions that the refusal lists."""
    data = next((message.error.get("data") for message in call.messages), None)
    found = data.get("supported") if isinstance(data, dict) else None
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


# --- what the checks must catch


TURNED_AWAY = b'{"jsonrpc":"2.0","id":"older","error":{"code":-32022,"message":"unsupported version"}}'
JSON = [("Content-Type", "application/json")]


@on_call(
    "a request without a version header is served by a server that knows no older ones", breaks="HTTP-53"
)
def version_guessed(request: Request, context: FaultContext) -> Response | None:
    if context.method == "initialize":
        return Response(JSON, 400, TURNED_AWAY)
    if request.header("mcp-protocol-version") is None:
        request.set("MCP-Protocol-Version", context.revision.date)
    return None


@on_call("GET opens a stream although there is none to open", breaks="HTTP-66")
def stream_for_old_clients(request: Request, context: FaultContext) -> Response | None:
    if context.method == "initialize":
        return Response(JSON, 400, TURNED_AWAY)
    if request.method == "GET":
        return Response([("Content-Type", "text/event-stream")], 200, b":\n\n")
    return None


@on_call("a request with the id of a session gets 404", breaks="HTTP-67")
def session_wanted(request: Request, context: FaultContext) -> Response | None:
    if context.method == "initialize":
        return Response(JSON, 400, TURNED_AWAY)
    return Response([], 404, b"") if request.header("mcp-session-id") is not None else None


@on_call("a request with Last-Event-ID gets 400", breaks="HTTP-68")
def resumption_wanted(request: Request, context: FaultContext) -> Response | None:
    if context.method == "initialize":
        return Response(JSON, 400, TURNED_AWAY)
    return Response([], 400, b"") if request.header("last-event-id") is not None else None


@on_call("a request without a version header gets 400", breaks="HTTP-46")
def version_required(request: Request, context: FaultContext) -> Response | None:
    if request.header("mcp-protocol-version") is None and context.method != "initialize":
        return Response([], 400, b"")
    return None


@on_call("a version header that names no version is ignored", breaks="HTTP-47")
def any_version_header(request: Request, context: FaultContext) -> None:
    if request.header("mcp-protocol-version") is not None:
        request.set("MCP-Protocol-Version", context.revision.date)


@on_call("any date is taken for a version", breaks="HTTP-47")
def version_by_pattern(request: Request, context: FaultContext) -> None:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", request.header("mcp-protocol-version") or ""):
        request.set("MCP-Protocol-Version", context.revision.date)


@on_response("an unknown version header gets 200 and an error", breaks="HTTP-47")
def version_error_ok(response: Response, context: FaultContext) -> None:
    response.status = 200 if response.status == 400 else response.status


@on_response("an unsupported version gets status 200", breaks="HTTP-51")
def unsupported_version_ok(response: Response, context: FaultContext) -> None:
    if response.status == 400 and context.meta.get(VERSION_KEY) not in BY_DATE:
        response.status = 200


@on_reply("the supported versions are not listed", breaks="HTTP-51", transports=HTTP_ONLY)
def unsupported_without_list(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"].pop("data", None)
    return reply
