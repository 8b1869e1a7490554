"""DNS rebinding: requests with a foreign host or origin are refused."""

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
    observe,
    on_call,
    on_response,
)
from assay.lab.harness.driver.message_meta import CLIENT
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.need import LOCAL
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.revisions.revision import Opening

from .declaration import official_check, official_scenario

# --- what is asked


FOREIGN = {"Origin": "http://evil.example.com"}
REBOUND = {"Host": "evil.example.com", **FOREIGN}
"""The headers of a browser after DNS rebinding."""


@official_scenario(
    "dns-rebinding-protection",
    "Send requests with foreign hosts and origins",
    needs=(LOCAL,),
    transports=HTTP_ONLY,
)
async def drive_dns_rebinding_protection(stage: Stage) -> None:
    peer = await stage.connect()
    # The control: the same request from a local page.
    address = peer.http.address
    own = {"Origin": f"{'https' if address.secure else 'http'}://{address.authority}"}
    reply = await _open(peer, own)
    if stage.revision.opening is Opening.HANDSHAKE:
        peer.http.agreed(reply.head, stage.revision.date)
        await peer.offer({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=own)
    for headers in (REBOUND, FOREIGN):
        stranger = await stage.connect()
        await _open(stranger, headers)


async def _open(peer: Peer, headers: dict[str, str]) -> Reply:
    """The first request that a client of this revision sends."""
    if peer.revision.opening is Opening.PER_REQUEST:
        return await peer.request("server/discover", headers=headers)
    params = {"protocolVersion": peer.revision.date, "capabilities": {}, "clientInfo": CLIENT}
    return await peer.request("initialize", params, headers=headers)


# --- how it is judged


REJECTED, ACCEPTED = "localhost-host-rebinding-rejected", "localhost-host-valid-accepted"
OPENING: Final = ("initialize", "server/discover")


@official_check(
    "dns-rebinding-protection",
    "Requests with a foreign host or origin are refused",
    requirements=(REJECTED, ACCEPTED),
    transports=HTTP_ONLY,
)
def judge_dns_rebinding_protection(trace: Trace) -> Iterator[Observation]:
    calls = [call for call in trace.calls if call.head is not None and call.sent.get("origin") is not None]
    own = [call for call in calls if _is_own(call)]
    for call in own:
        served = 200 <= call.status < 300 and (not _opens(call) or _is_answered(call))
        expected = f"Origin {call.sent.get('origin')} to be served, since it is the server's own"
        yield observe(ACCEPTED, served, call, expected=expected, observed=f"status {call.status}")
    # A refusal only counts if the server serves the same request otherwise.
    control = [call for call in own if _opens(call) and _is_answered(call)]
    for call in calls:
        if not _is_own(call) and (control or call.status < 400):
            yield observe(
                REJECTED,
                400 <= call.status < 500,
                *control[:1],
                call,
                expected=f"status 4xx for Host {call.sent.get('host')}, Origin {call.sent.get('origin')}",
                observed=f"status {call.status}",
            )


def _is_own(call: Call) -> bool:
    return is_local((call.sent.get("origin") or "").partition("://")[2])


def _opens(call: Call) -> bool:
    return any(message.method in OPENING for message in call.request_messages)


def _is_answered(call: Call) -> bool:
    return any("result" in message.fields for message in call.messages)


# --- what the checks must catch


@on_call("serves requests from pages of other sites", breaks="localhost-host-rebinding-rejected")
def any_host(request: Request, context: FaultContext) -> None:
    request.set("Origin", None)
    request.set("Host", "localhost")


@on_call("serves a foreign Origin if the Host is right", breaks="localhost-host-rebinding-rejected")
def host_only(request: Request, context: FaultContext) -> None:
    if request.header("host") != "evil.example.com":
        request.set("Origin", None)


@on_response("answers a foreign Origin with 500", breaks="localhost-host-rebinding-rejected")
def refusal_breaks(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        response.status = 500


@on_call("refuses its own Origin", breaks="localhost-host-valid-accepted")
def no_origin(request: Request, context: FaultContext) -> Response | None:
    return Response([], 403, b"") if request.header("origin") is not None else None
