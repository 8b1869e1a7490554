"""Requests with a foreign `Origin` header are refused."""

from __future__ import annotations

from collections.abc import Iterator
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
from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.need import LOCAL
from assay.lab.harness.trace.separation import fails_without
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY, Transport

WITH_HEADERS: Final = frozenset({Transport.HTTP, Transport.HTTP_SSE})

# --- what is asked


FOREIGN: Final = {"Origin": "http://evil.example"}
LOOKALIKE: Final = {"Origin": "http://localhost.evil.example"}
"""Begins like a local origin."""
REBOUND: Final = {"Host": "evil.example", **FOREIGN}
"""The headers of a browser during DNS rebinding."""


@scenario("Send requests with a foreign Origin", needs=(LOCAL,), transports=WITH_HEADERS)
async def drive_foreign_origin(stage: Stage) -> None:
    peer = await stage.open()
    # The control: the same request without an origin.
    await peer.request(stage.plain)
    for headers in (FOREIGN, LOOKALIKE, REBOUND):
        pending = await peer.start(stage.plain, headers=headers)
        assert pending.sent is not None
        await pending.sent.settled(peer.patience)
    if stage.transport is Transport.HTTP and stage.revision.http.sessions:
        await peer.wait_accepted(await peer.http.listen(**FOREIGN))
        control = await stage.open_control()
        await control.wait_accepted(await control.http.listen())


# --- how it is judged


@check("A foreign Origin is refused", requirements=("HTTP-02", "HTTP-03"), transports=WITH_HEADERS)
def judge_foreign_origin(trace: Trace) -> Iterator[Observation]:
    own = {call.sent.get("host") for call in trace.calls if call.sent.get("origin") is None}
    # The allowed origins of a public server are unknown.
    if not own or not all(is_local(host or "") for host in own):
        return
    for call in trace.calls:
        origin = call.sent.get("origin")
        if origin is None or is_local(origin.partition("://")[2]) or call.head is None:
            continue
        observed = f"status {call.status}"
        refused = not 200 <= call.status < 300
        yield observe("HTTP-02", refused, call, expected=f"a refusal of Origin {origin}", observed=observed)
        if call.sent.get("host") in own and not declines_method(call) and not fails_without(call, trace):
            yield observe("HTTP-03", call.status == 403, call, expected="status 403", observed=observed)


def declines_method(call: Call) -> bool:
    return call.sent.method != "POST" and call.status == 405


# --- what the checks must catch


@on_call("accepts a foreign Origin", breaks="HTTP-02", transports=WITH_HEADERS)
def any_origin(request: Request, context: FaultContext) -> None:
    request.set("Origin", None)


@on_call("accepts any Origin that begins like a local one", breaks="HTTP-02")
def origin_by_prefix(request: Request, context: FaultContext) -> None:
    if (request.header("origin") or "").startswith(("http://localhost", "http://127.0.0.1")):
        request.set("Origin", None)


@on_call("accepts an Origin that equals a forged Host", breaks="HTTP-02")
def origin_like_host(request: Request, context: FaultContext) -> None:
    if request.header("origin") == f"http://{request.header('host')}":
        request.set("Origin", None)
        request.set("Host", "localhost")


@on_call(
    "opens a stream for a foreign Origin",
    breaks="HTTP-02",
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
def origin_of_streams(request: Request, context: FaultContext) -> None:
    if request.method == "GET":
        request.set("Origin", None)


@on_response("refuses a foreign Origin with 400", breaks="HTTP-03")
def origin_bad_request(response: Response, context: FaultContext) -> None:
    response.status = 400 if response.status == 403 else response.status
