"""HTTP sessions: their ids, and requests without an id or with that of an ended session."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from assay.lab.harness import (
    FaultContext,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_call,
    on_response,
    scenario,
)
from assay.lab.harness.need import A_SESSION
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY

# --- what is asked


@scenario(
    "Send requests without a session, and in a session that was ended",
    exercises=("http.session-id", "http.session-rules", "http.accepted-notification"),
    needs=(A_SESSION,),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive_session(stage: Stage) -> None:
    other = await stage.open()
    await other.request("ping", headers={"Mcp-Session-Id": None})
    peer = await stage.open()
    # The control: the session works before it is ended.
    await peer.request("ping")
    ended = await peer.http.call("DELETE", headers=peer.http.session_headers())
    await ended.settled(peer.patience)
    await peer.request("ping")
    await peer.notify("notifications/cancelled", {"requestId": 4711})
    await peer.wait_accepted(await peer.http.listen())
    await peer.close()


# --- how it is judged


VISIBLE: Final = range(0x21, 0x7F)
MIN_DIFFERENCE: Final = 6
"""Characters over which two random ids differ at least. Counters and clocks differ over fewer."""


@check(
    "Session ids are visible ASCII and cannot be guessed",
    requirements=("HTTP-36", "HTTP-37"),
    transports=HTTP_ONLY,
    everywhere=True,
)
def judge_session_id(trace: Trace) -> Iterator[Observation]:
    ids = [(call, session) for call in trace.calls if (session := new_session_id(call)) is not None]
    for call, session in ids:
        yield observe(
            "HTTP-37",
            bool(session) and all(ord(letter) in VISIBLE for letter in session),
            call,
            expected="one or more characters between 0x21 and 0x7E",
            observed=f"{session!r}",
        )
    for (call, session), (later_call, later) in pairwise(ids):
        stretch = differing(session, later)
        yield observe(
            "HTTP-36",
            stretch >= MIN_DIFFERENCE,
            call,
            later_call,
            expected="session ids that are independent of each other",
            observed=f"{session!r} and {later!r}, which differ over {stretch} characters",
        )


def new_session_id(call: Call) -> str | None:
    """The session id in a response to `initialize`."""
    opens = any(message.method == "initialize" for message in call.request_messages)
    return call.head.get("mcp-session-id") if opens and call.head is not None else None


def differing(left: str, right: str) -> int:
    """The length of the longer text without the common beginning and end."""
    if left == right:
        return 0
    length = min(len(left), len(right))
    begin = next((at for at in range(length) if left[at] != right[at]), length)
    end = next((at for at in range(length - begin) if left[-1 - at] != right[-1 - at]), length - begin)
    return max(len(left), len(right)) - begin - end


@check(
    "A request in an ended session gets 404, one without a session 400",
    requirements=("HTTP-40", "HTTP-41"),
    transports=HTTP_ONLY,
)
def judge_session_rules(trace: Trace) -> Iterator[Observation]:
    ended: set[str] = set()
    for call in trace.calls:
        if call.head is None:
            continue
        observed = f"status {call.status}"
        if call.session in ended:
            # A server without GET or DELETE answers 405 in any session.
            if call.sent.method == "POST" or call.status != 405:
                yield observe("HTTP-41", call.status == 404, call, expected="status 404", observed=observed)
        elif call.session is None:
            # Servers may serve requests without a session; a refusal shows that this one does not.
            if call.status >= 400 and _has_request(call):
                yield observe("HTTP-40", call.status == 400, call, expected="status 400", observed=observed)
        elif call.sent.method == "DELETE" and 200 <= call.status < 300:
            ended.add(call.session)


def _has_request(call: Call) -> bool:
    return any(
        message.shape is Shape.REQUEST and message.method != "initialize" for message in call.request_messages
    )


# --- what the checks must catch


@on_response("numbers its sessions", breaks="HTTP-36")
def counted_sessions(response: Response, context: FaultContext) -> None:
    if response.header("mcp-session-id") is not None:
        context.memory["count"] = context.memory.get("count", 0) + 1
        response.set("Mcp-Session-Id", f"session-{context.memory['count']}")


@on_response("gives every client the same session id", breaks="HTTP-36")
def one_session(response: Response, context: FaultContext) -> None:
    if response.header("mcp-session-id") is not None:
        response.set("Mcp-Session-Id", "the-session-of-this-server")


@on_response("sends a session id with a letter outside ASCII", breaks="HTTP-37")
def session_id_in_latin(response: Response, context: FaultContext) -> None:
    if (session := response.header("mcp-session-id")) is not None:
        response.set("Mcp-Session-Id", f"rené-{session}")


@on_response("sends a session id with a space", breaks="HTTP-37")
def session_id_with_space(response: Response, context: FaultContext) -> None:
    if (session := response.header("mcp-session-id")) is not None:
        response.set("Mcp-Session-Id", f"session {session}")


@on_call("refuses a request without a session id with 401", breaks="HTTP-40")
def no_session_unauthorized(request: Request, context: FaultContext) -> Response | None:
    without = request.method == "POST" and request.header("mcp-session-id") is None
    return Response([], 401, b"") if without and context.method != "initialize" else None


@on_response("refuses a request in an ended session with 400", breaks="HTTP-41")
def session_gets_400(response: Response, context: FaultContext) -> None:
    in_session = context.call is not None and context.call.header("mcp-session-id") is not None
    if in_session and response.status == 404:
        response.status = 400


@on_call("serves requests in a session that was ended", breaks="HTTP-41")
def session_lives_on(request: Request, context: FaultContext) -> Response | None:
    return Response([], 200, b"") if request.method == "DELETE" else None


@on_call("opens a stream in a session that was ended", breaks="HTTP-41")
def stream_of_ended_session(request: Request, context: FaultContext) -> Response | None:
    stream = Response([("Content-Type", "text/event-stream")], 200, b":\n\n")
    return stream if request.method == "GET" else None
