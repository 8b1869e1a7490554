"""HTTP sessions: their ids, and requests without one or with a wrong one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

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
    "Sessions, and one that its client has ended",
    exercises=("http.session-id", "http.session-rules", "http.accepted-notification"),
    needs=(A_SESSION,),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive_session(stage: Stage) -> None:
    other = await stage.open()
    await other.request("ping", headers={"Mcp-Session-Id": None})
    peer = await stage.open()
    # The control: while it lives, the session is served.
    await peer.request("ping")
    ended = await peer.http.call("DELETE", headers=peer.http.session_headers())
    await ended.settled(peer.patience)
    await peer.request("ping")
    await peer.notify("notifications/cancelled", {"requestId": 4711})
    await peer.taken(await peer.http.listen())
    await peer.close()


# --- how it is judged


VISIBLE = range(0x21, 0x7F)
GUESSABLE = 6
"""Two random ids of any sensible length differ over a longer stretch; counters and clocks do not."""


@check(
    "Session ids are visible ASCII and cannot be guessed",
    requirements=("HTTP-36", "HTTP-37"),
    transports=HTTP_ONLY,
)
def judge_session_id(trace: Trace) -> Iterator[Observation]:
    given = [(call, value) for call in trace.calls if (value := minted(call)) is not None]
    for call, value in given:
        odd = sorted({letter for letter in value if ord(letter) not in VISIBLE})
        yield observe(
            "HTTP-37",
            bool(value) and not odd,
            call,
            expected="one or more characters between 0x21 and 0x7E",
            observed=f"{value!r}",
        )
    for (one, first), (other, second) in pairwise(given):
        stretch = differing(first, second)
        yield observe(
            "HTTP-36",
            stretch >= GUESSABLE,
            one,
            other,
            expected="ids of two sessions that have nothing to do with each other",
            observed=f"{first!r} and {second!r}, which differ over {stretch} characters",
        )


def minted(call: Call) -> str | None:
    opens = any(message.method == "initialize" for message in call.asked)
    return call.head.get("mcp-session-id") if opens and call.head is not None else None


def differing(one: str, other: str) -> int:
    """The length of what remains when the common beginning and end are taken away."""
    if one == other:
        return 0
    length = min(len(one), len(other))
    begin = next((at for at in range(length) if one[at] != other[at]), length)
    end = next((at for at in range(length - begin) if one[-1 - at] != other[-1 - at]), length - begin)
    return max(len(one), len(other)) - begin - end


@check("Ended sessions get 404, missing ones 400", requirements=("HTTP-40", "HTTP-41"), transports=HTTP_ONLY)
def judge_session_rules(trace: Trace) -> Iterator[Observation]:
    ended: set[str] = set()
    for call in trace.calls:
        if call.head is None:
            continue
        if call.session in ended:
            yield from _of_ended(call)
        elif call.session is None:
            yield from _of_none(call)
        elif call.sent.method == "DELETE" and 200 <= call.status < 300:
            ended.add(call.session)


def _of_ended(call: Call) -> Iterator[Observation]:
    # Where a server has no GET or DELETE at all, it says so whatever the session is.
    if call.sent.method == "POST" or call.status != 405:
        yield observe(
            "HTTP-41",
            call.status == 404,
            call,
            expected="status 404 for the session that DELETE ended",
            observed=f"status {call.status}",
        )


def _of_none(call: Call) -> Iterator[Observation]:
    requests = [one for one in call.asked if one.shape is Shape.REQUEST and one.method != "initialize"]
    # Only a server that refuses such a request requires a session.
    if requests and call.status >= 400:
        yield observe(
            "HTTP-40",
            call.status == 400,
            call,
            expected="status 400 for a request without a session id",
            observed=f"status {call.status}",
        )


# --- what the checks must catch


@on_response("session ids are counted", breaks="HTTP-36")
def counted_sessions(response: Response, context: FaultContext) -> None:
    if response.header("mcp-session-id") is not None:
        context.memory["count"] = context.memory.get("count", 0) + 1
        response.set("Mcp-Session-Id", f"session-{context.memory['count']}")


@on_response("every client gets the same session id", breaks="HTTP-36")
def one_session(response: Response, context: FaultContext) -> None:
    if response.header("mcp-session-id") is not None:
        response.set("Mcp-Session-Id", "the-session-of-this-server")


@on_response("a session id has letters beyond ASCII", breaks="HTTP-37")
def session_id_in_latin(response: Response, context: FaultContext) -> None:
    if (given := response.header("mcp-session-id")) is not None:
        response.set("Mcp-Session-Id", f"rené-{given}")


@on_response("a session id has spaces in it", breaks="HTTP-37")
def session_id_with_space(response: Response, context: FaultContext) -> None:
    if (given := response.header("mcp-session-id")) is not None:
        response.set("Mcp-Session-Id", f"session {given}")


@on_call("a request without a session id gets 401", breaks="HTTP-40")
def no_session_unauthorized(request: Request, context: FaultContext) -> Response | None:
    opening = context.method == "initialize"
    named = request.header("mcp-session-id") is not None
    return None if opening or named or request.method != "POST" else Response([], 401, b"")


@on_response("a request of an ended session gets 400", breaks="HTTP-41")
def session_gets_400(response: Response, context: FaultContext) -> None:
    named = context.call is not None and context.call.header("mcp-session-id") is not None
    if named and response.status == 404:
        response.status = 400


@on_call("a session that was ended is still served", breaks="HTTP-41")
def session_lives_on(request: Request, context: FaultContext) -> Response | None:
    return Response([], 200, b"") if request.method == "DELETE" else None


@on_call("a stream is opened for a session that was ended", breaks="HTTP-41")
def stream_of_ended_session(request: Request, context: FaultContext) -> Response | None:
    if request.method != "GET":
        return None
    return Response([("Content-Type", "text/event-stream")], 200, b":\n\n")
