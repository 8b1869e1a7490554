"""The protocol version header, and requests in the style of other revisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

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
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.separation import fails_without
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import METHOD, VERSION, Flaw, is_mismatch, standard_mirrors
from assay.model.error import HEADER_MISMATCH, UNSUPPORTED_VERSION
from assay.revisions.registry import ASSUMED, BY_DATE
from assay.revisions.revision import Revision

from .origins import declines_method

Answer = Callable[[Request, FaultContext], Response | None]

# --- what is asked


@scenario(
    "Send an invalid version header, or none",
    exercises=("http.bad-version-header",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.version_header,
)
async def drive_version_header(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping")
    await peer.request("ping", headers={VERSION: None})
    for version in ("no-version", "1999-12-31"):
        await peer.request("ping", headers={VERSION: version})
    await peer.wait_accepted(await peer.http.listen(**{VERSION: "no-version"}))
    control = await stage.open_control()
    await control.wait_accepted(await control.http.listen())


HANDSHAKE: Final = {
    "jsonrpc": "2.0",
    "id": "older",
    "method": "initialize",
    "params": {"protocolVersion": ASSUMED.date, "capabilities": {}, "clientInfo": CLIENT},
}


@scenario(
    "Send requests in the style of older revisions",
    transports=HTTP_ONLY,
    window=lambda revision: not revision.http.sessions,
)
async def drive_older_traffic(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.offer(HANDSHAKE, headers={VERSION: None, METHOD: None})
    await peer.wait_accepted(await peer.http.call("GET", headers={"Accept": EVENT_STREAM}))
    deleted = await peer.http.call("DELETE", headers={"Accept": EVENT_STREAM})
    await deleted.settled(peer.patience)
    for header, value in (("Mcp-Session-Id", "of-long-ago"), ("Last-Event-ID", "0"), (VERSION, None)):
        await peer.request(stage.plain, headers={header: value})


# --- how it is judged


@check(
    "Requests in the style of older revisions are recognised",
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
        yield from _judge_without_version(call, trace.revision, agreed)
        if agreed is None:
            yield from _judge_without_older_revisions(call)


def _opens(call: Call) -> bool:
    return any(message.method == "initialize" for message in call.request_messages)


def _agreed(opening: Call) -> str | None:
    """The version that the server offered in the handshake, or None if it refused it."""
    versions = (message.result.get("protocolVersion") for message in opening.messages)
    return next((version for version in versions if isinstance(version, str)), None)


def _judge_without_version(call: Call, revision: Revision, agreed: str | None) -> Iterator[Observation]:
    flawed = [mirror for mirror in standard_mirrors(call, revision) if mirror.flaw is not None]
    if len(flawed) != 1 or (flawed[0].header, flawed[0].flaw) != (VERSION, Flaw.MISSING):
        return
    older = BY_DATE.get(agreed or "")
    # A server that supports revisions without this header may serve such a request.
    if is_mismatch(call) or older is None or older.http.version_header:
        expected = f"status 400 with error {HEADER_MISMATCH}: the version header is missing"
        observed = f"status {call.status}, error {call.code}"
        yield observe("HTTP-53", is_mismatch(call), call, expected=expected, observed=observed)


def _judge_without_older_revisions(call: Call) -> Iterator[Observation]:
    status = f"status {call.status}"
    if call.sent.method in ("GET", "DELETE"):
        yield observe("HTTP-66", call.status == 405, call, expected="status 405", observed=status)
        return
    answered = any(message.shape is Shape.RESULT for message in call.messages)
    session = call.head.get("mcp-session-id") if call.head is not None else None
    if call.session is not None:
        expected = "the same reply as without the session id, and no new session id"
        observed = f"{status}, session id {session}"
        yield observe("HTTP-67", answered and session is None, call, expected=expected, observed=observed)
    if call.resumes is not None:
        expected = "the same reply as without Last-Event-ID"
        yield observe("HTTP-68", answered, call, expected=expected, observed=status)


@check(
    "An invalid version header gets 400, and a missing one is accepted",
    requirements=("HTTP-46", "HTTP-47"),
    transports=HTTP_ONLY,
)
def judge_bad_version_header(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.head is None or any(message.method == "initialize" for message in call.request_messages):
            continue
        version = call.sent.get("mcp-protocol-version")
        if version is None and call.sent.method == "POST":
            expected = "the version of the session, or the default, to be assumed"
            observed = f"status {call.status} without a version header"
            yield observe("HTTP-46", call.status < 400, call, expected=expected, observed=observed)
        elif version is not None and version not in BY_DATE and not _is_other_refusal(call, trace):
            observed = f"status {call.status}"
            yield observe("HTTP-47", call.status == 400, call, expected="status 400", observed=observed)


def _is_other_refusal(call: Call, trace: Trace) -> bool:
    """Whether the server refuses the request whatever its version is."""
    return declines_method(call) or fails_without(call, trace)


@check(
    "An unsupported version gets 400 and the list of supported ones",
    requirements=("HTTP-51",),
    transports=HTTP_ONLY,
    everywhere=True,
)
def judge_unsupported_version(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        mirrors = standard_mirrors(call, trace.revision)
        version = next((mirror.value for mirror in mirrors if mirror.header == VERSION), None)
        if version is None or version in BY_DATE or any(mirror.flaw for mirror in mirrors):
            continue
        yield observe(
            "HTTP-51",
            call.status == 400 and call.code == UNSUPPORTED_VERSION and bool(supported(call)),
            call,
            expected=f"status 400 with error {UNSUPPORTED_VERSION} and `data.supported`",
            observed=f"status {call.status}, error {call.code}, supported {supported(call)}",
        )


def supported(call: Call) -> list[str]:
    """The versions that the error lists."""
    data = next((message.error.get("data") for message in call.messages), None)
    versions = data.get("supported") if isinstance(data, dict) else None
    return [version for version in versions if isinstance(version, str)] if isinstance(versions, list) else []


# --- what the checks must catch


UNSUPPORTED: Final = b'{"jsonrpc":"2.0","id":"older","error":{"code":-32022,"message":"Unsupported version"}}'


def _without_older_revisions(name: str, fault: str, breaks: str, answer: Answer) -> Saboteur:
    """A fault of a server that refuses the handshake of older revisions."""

    def call(request: Request, context: FaultContext) -> Response | None:
        if context.method == "initialize":
            return Response([("Content-Type", "application/json")], 400, UNSUPPORTED)
        return answer(request, context)

    saboteur: Saboteur = on_call(fault, id=name, breaks=breaks)(call)
    return saboteur


def _guess_version(request: Request, context: FaultContext) -> None:
    if request.header(VERSION) is None:
        request.set(VERSION, context.revision.date)


def _open_stream(request: Request, context: FaultContext) -> Response | None:
    stream = Response([("Content-Type", "text/event-stream")], 200, b":\n\n")
    return stream if request.method == "GET" else None


def _refuse_session(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404, b"") if request.header("mcp-session-id") is not None else None


def _refuse_resumption(request: Request, context: FaultContext) -> Response | None:
    return Response([], 400, b"") if request.header("last-event-id") is not None else None


NEW_REVISION_FAULTS: Final = (
    _without_older_revisions(
        "http.version-guessed", "accepts a request without a version header", "HTTP-53", _guess_version
    ),
    _without_older_revisions(
        "http.stream-for-old-clients", "opens a stream for GET", "HTTP-66", _open_stream
    ),
    _without_older_revisions(
        "http.session-wanted", "refuses a session id with 404", "HTTP-67", _refuse_session
    ),
    _without_older_revisions(
        "http.resumption-wanted", "refuses Last-Event-ID with 400", "HTTP-68", _refuse_resumption
    ),
)


@on_call("refuses a request without a version header with 400", breaks="HTTP-46")
def version_required(request: Request, context: FaultContext) -> Response | None:
    without = request.header(VERSION) is None and context.method != "initialize"
    return Response([], 400, b"") if without else None


@on_call("ignores an invalid version header", breaks="HTTP-47")
def any_version_header(request: Request, context: FaultContext) -> None:
    if request.header(VERSION) is not None:
        request.set(VERSION, context.revision.date)


@on_call("accepts any date as a version", breaks="HTTP-47")
def version_by_pattern(request: Request, context: FaultContext) -> None:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", request.header(VERSION) or ""):
        request.set(VERSION, context.revision.date)


@on_response("answers an unknown version header with 200 and an error", breaks="HTTP-47")
def version_error_ok(response: Response, context: FaultContext) -> None:
    response.status = 200 if response.status == 400 else response.status


@on_response("answers an unsupported version with 200", breaks="HTTP-51")
def unsupported_version_ok(response: Response, context: FaultContext) -> None:
    if response.status == 400 and context.meta.get(VERSION_KEY) not in BY_DATE:
        response.status = 200


@on_reply("does not list the supported versions", breaks="HTTP-51", transports=HTTP_ONLY)
def unsupported_without_list(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"].pop("data", None)
    return reply
