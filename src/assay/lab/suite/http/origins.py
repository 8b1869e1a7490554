"""Requests with a foreign `Origin` header are refused."""

from __future__ import annotations

from collections.abc import Iterator

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
from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.need import LOCAL
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY, Transport

# --- what is asked


FOREIGN = "http://evil.example"
ALIKE = "http://localhost.evil.example"
"""Begins like a name of this machine."""
REBOUND = {"Host": "evil.example", "Origin": FOREIGN}
"""What a browser sends after the name of a page was made to point here."""


@scenario(
    "Requests from pages of other sites",
    exercises=("http.foreign-origin",),
    needs=(LOCAL,),
    transports=frozenset({Transport.HTTP, Transport.HTTP_SSE}),
)
async def drive_foreign_origin(stage: Stage) -> None:
    peer = await stage.open()
    # The control: the same request without an origin.
    await peer.request(stage.plain)
    for headers in ({"Origin": FOREIGN}, {"Origin": ALIKE}, REBOUND):
        pending = await peer.start(stage.plain, headers=headers)
        assert pending.sent is not None
        await pending.sent.settled(peer.patience)
    if stage.transport is Transport.HTTP and stage.revision.http.sessions:
        await peer.taken(await peer.http.listen(Origin=FOREIGN))


# --- how it is judged


@check(
    "A foreign Origin is refused",
    requirements=("HTTP-02", "HTTP-03"),
    transports=frozenset({Transport.HTTP, Transport.HTTP_SSE}),
)
def judge_foreign_origin(trace: Trace) -> Iterator[Observation]:
    own = {call.sent.get("host") for call in trace.calls if call.sent.get("origin") is None}
    # Who may come to a server that others reach is its operator's affair, and unknown here.
    if not own or not all(is_local(host or "") for host in own):
        return
    for call in trace.calls:
        origin = call.sent.get("origin")
        if origin is not None and not is_local(origin.partition("://")[2]) and call.head is not None:
            yield observe(
                "HTTP-02",
                not 200 <= call.status < 300,
                call,
                expected=f"a refusal of Origin {origin}",
                observed=f"status {call.status}",
            )
            if call.sent.get("host") in own and not _declines_method(call):
                yield observe(
                    "HTTP-03",
                    call.status == 403,
                    call,
                    expected="status 403",
                    observed=f"status {call.status}",
                )


def _declines_method(call: Call) -> bool:
    return call.sent.method != "POST" and call.status == 405


# --- what the checks must catch


@on_call(
    "a foreign Origin is served", breaks="HTTP-02", transports=frozenset({Transport.HTTP, Transport.HTTP_SSE})
)
def any_origin(request: Request, context: FaultContext) -> None:
    request.set("Origin", None)


@on_call("any Origin that begins like a local one is served", breaks="HTTP-02")
def origin_by_prefix(request: Request, context: FaultContext) -> None:
    if (request.header("origin") or "").startswith(("http://localhost", "http://127.0.0.1")):
        request.set("Origin", None)


@on_call("an Origin that equals a forged Host is served", breaks="HTTP-02")
def origin_like_host(request: Request, context: FaultContext) -> None:
    if request.header("origin") == f"http://{request.header('host')}":
        request.set("Origin", None)
        request.set("Host", "localhost")


@on_call(
    "a stream is opened for a foreign Origin",
    breaks="HTTP-02",
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
def origin_of_streams(request: Request, context: FaultContext) -> None:
    if request.method == "GET":
        request.set("Origin", None)


@on_response("a foreign Origin gets 400", breaks="HTTP-03")
def origin_bad_request(response: Response, context: FaultContext) -> None:
    response.status = 400 if response.status == 403 else response.status
