"""Scopes, client certificates, foreign origins and protected manifests."""

from __future__ import annotations

import ssl
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
    on_handshake,
    on_response,
    scenario,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import open_admitted, send_opening, try_open
from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.links.identity import CERTIFICATE, REFUSED
from assay.lab.harness.need import A_CLIENT_CERTIFICATE, A_WEAK_TOKEN, LOCAL, PROTECTED
from assay.lab.harness.subject.bearer import GARBAGE, NONE, STRANGER, WEAK, claims_of
from assay.lab.harness.trace.authorization import bearer_challenge, calls_with, is_admitted, outcome_text
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.declaration import profile_check
from assay.lab.suite.authorization.scopes import safe_requests
from assay.lab.suite.protected_fault import as_first, claims, drop_from_challenge, remember_first

from .admission import CERTIFIED_SERVER, MANIFESTS, SERVER, UNAUTHORIZED, challenges, without_token

GRANTED: Final = "granted"
"""The note with the scopes of the weak token; `scopes` is null where the token does not show them."""


def granted_to(token: str) -> list[str] | None:
    """The scopes of a token; None where it does not show them."""
    claims = claims_of(token) or {}
    match claims.get("scope", claims.get("scp")):
        case str(scopes):
            return scopes.split()
        case list(scopes):
            return [str(scope) for scope in scopes]
    return None


def missing_scopes(trace: Trace) -> list[str]:
    """Scopes that the challenge asks for and the weak token lacks; empty where they are unknown."""
    note = next(trace.marks(GRANTED), None)
    granted = None if note is None else note.info.get("scopes")
    if not isinstance(granted, list):
        return []
    parsed = (bearer_challenge(call.head) for call in without_token(trace))
    required = {scope for challenge in parsed if challenge is not None for scope in challenge.scopes}
    return sorted(required - set(granted))


# --- what is asked


@scenario(
    "Send requests with a token of too few scopes",
    exercises=("sec.scope",),
    needs=(PROTECTED, A_WEAK_TOKEN),
    transports=HTTP_ONLY,
)
async def drive_scope(stage: Stage) -> None:
    await open_admitted(stage)
    # The challenge names the required scopes; those of the token cannot be read from the wire.
    await try_open(stage, NONE)
    stage.note(GRANTED, scopes=granted_to(stage.tokens.get(WEAK) or ""))
    async for _ in safe_requests(stage, await stage.connect(WEAK)):
        pass


@scenario(
    "Connect without a certificate and with an unknown one",
    exercises=("sec.certificate",),
    needs=(A_CLIENT_CERTIFICATE,),
    transports=HTTP_ONLY,
)
async def drive_certificate(stage: Stage) -> None:
    await open_admitted(stage)
    for kind in (NONE, STRANGER):
        peer = await stage.connect(certificate=kind)
        try:
            await send_opening(stage, peer)
        except Unreachable as reason:
            # Where TLS refuses the connection, there are no frames to record.
            peer.mark(REFUSED, shows=kind, reason=str(reason))


FOREIGN: Final = "https://pages.example"
REBOUND: Final = "pages.example"
"""The host of a page in a DNS rebinding attack, where a browser may omit `Origin`."""
HEADERS: Final = (
    {"Origin": FOREIGN},
    {"Origin": "http://localhost.pages.example"},  # a prefix comparison would take it for localhost
    {"Host": REBOUND},
    {"Host": REBOUND, "Origin": FOREIGN},
)


@scenario(
    "Send requests from pages of other sites",
    exercises=("sec.foreign-pages",),
    needs=(LOCAL,),
    transports=HTTP_ONLY,
)
async def drive_foreign_pages(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)  # the control: the same request without these headers
    for headers in HEADERS:
        pending = await peer.start(stage.plain, headers=headers)
        assert pending.sent is not None
        await pending.sent.settled(peer.patience)


@scenario(
    "Read the manifests with a token, with garbage and with none",
    exercises=("sec.manifests",),
    needs=(PROTECTED,),
    transports=HTTP_ONLY,
)
async def drive_manifests(stage: Stage) -> None:
    await _read(await open_admitted(stage))
    await _read(await stage.connect(GARBAGE))
    await _read(await stage.connect(NONE))


async def _read(peer: Peer) -> None:
    for target in MANIFESTS:
        sent = await peer.http.call("GET", headers={"Accept": JSON}, target=target)
        await sent.settled(peer.patience)


# --- how it is judged

SCOPE: Final = "CONF-SEC-04.scope"
INSUFFICIENT: Final = "insufficient_scope"


@profile_check("Too few scopes get 403", requirements=(SCOPE,), transports=HTTP_ONLY)
def judge_scope(trace: Trace) -> Iterator[Observation]:
    expected = f'status 403 and WWW-Authenticate: Bearer error="{INSUFFICIENT}"'
    calls = [call for _, call in calls_with(trace, WEAK)]
    refused = [call for call in calls if call.status in (401, 403)]
    for call in refused:
        observed = f"{outcome_text(call)}, {challenges(call)}"
        yield observe(SCOPE, _names_scope(call), call, expected=expected, observed=observed)
    missing = missing_scopes(trace)
    served = [call for call in calls if is_admitted(call)]
    # A server may serve some requests without the scope. If it refuses none, it does not require it.
    if missing and served and not refused:
        observed = f"{len(served)} requests served without {' '.join(missing)}, and none refused"
        yield observe(SCOPE, False, *served, expected=expected, observed=observed)


def _names_scope(call: Call) -> bool:
    challenge = bearer_challenge(call.head)
    return call.status == 403 and challenge is not None and challenge.params.get("error") == INSUFFICIENT


@profile_check(
    "Clients without a trusted certificate are refused",
    requirements=("CONF-SEC-04.certificate",),
    transports=HTTP_ONLY,
)
def judge_certificate(trace: Trace) -> Iterator[Observation]:
    requirement, expected = "CONF-SEC-04.certificate", "no connection, or a status of 4xx"
    certificates = {mark.connection: mark.info.get("shows") for mark in trace.marks(CERTIFICATE)}
    for call in trace.calls:
        if call.request.connection in certificates and (call.head is not None or call.is_over):
            refused = call.head is None or _is_refused(call)
            observed = (
                f"{outcome_text(call)} with a certificate that is {certificates[call.request.connection]}"
            )
            yield observe(requirement, refused, call, expected=expected, observed=observed)
    for mark in trace.marks(REFUSED):
        yield observe(requirement, True, mark, expected=expected, observed=mark.info.get("reason"))


def _is_refused(call: Call) -> bool:
    return 400 <= call.status < 500


@profile_check(
    "Requests from pages of other sites are refused",
    requirements=("CONF-SEC-04.origin", "CONF-SEC-04.host"),
    transports=HTTP_ONLY,
)
def judge_foreign_pages(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        host, origin = call.sent.get("host") or "", call.sent.get("origin")
        if call.head is None:
            continue
        if not is_local(host):
            observed = f"{outcome_text(call)} for Host {host}"
            yield observe(
                "CONF-SEC-04.host", _is_refused(call), call, expected="a refusal", observed=observed
            )
        elif origin is not None and not is_local(origin.partition("://")[2]):
            refused, observed = call.status == 403, f"{outcome_text(call)} for Origin {origin}"
            yield observe("CONF-SEC-04.origin", refused, call, expected="status 403", observed=observed)


@profile_check("Manifests require a token", requirements=("CONF-SEC-04.manifests",), transports=HTTP_ONLY)
def judge_manifests(trace: Trace) -> Iterator[Observation]:
    bad = [(kind, call) for kind, call in calls_with(trace, NONE, GARBAGE) if call.sent.target in MANIFESTS]
    bad_calls = {id(call) for _, call in bad}
    served = {call.sent.target for call in trace.calls if id(call) not in bad_calls and _is_served(call)}
    for kind, call in bad:
        # A manifest that is always refused breaks another requirement.
        if call.sent.target in served or _is_served(call):
            refused, expected = call.status == UNAUTHORIZED, f"status {UNAUTHORIZED}"
            observed = f"{outcome_text(call)} for {call.sent.target} with a token that is {kind}"
            yield observe("CONF-SEC-04.manifests", refused, call, expected=expected, observed=observed)


def _is_served(call: Call) -> bool:
    return call.sent.target in MANIFESTS and 200 <= call.status < 300


# --- what the checks must catch


@on_call("accepts a token without scopes for everything", breaks=SCOPE, server=SERVER)
def scope_not_read(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("scope") == "":
        as_first(request, context)


@on_response("refuses too few scopes with 401", breaks=SCOPE, server=SERVER)
def scope_unauthorized(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        response.status = 401


@on_response("omits insufficient_scope from the challenge", breaks=SCOPE, server=SERVER)
def scope_without_error(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        drop_from_challenge(response, "error")


@on_handshake("requires no certificates", breaks="CONF-SEC-04.certificate", server=CERTIFIED_SERVER)
def any_certificate(context: ssl.SSLContext) -> None:
    context.verify_mode = ssl.CERT_NONE


@on_handshake(
    "serves clients without a certificate", breaks="CONF-SEC-04.certificate", server=CERTIFIED_SERVER
)
def certificate_if_there(context: ssl.SSLContext) -> None:
    context.verify_mode = ssl.CERT_OPTIONAL


@on_call("serves a foreign Host", breaks="CONF-SEC-04.host")
def any_host(request: Request, context: FaultContext) -> None:
    request.set("Host", "localhost")
    if request.header("origin") == FOREIGN:
        request.set("Origin", None)


@on_call("serves a foreign Origin", breaks="CONF-SEC-04.origin")
def any_origin(request: Request, context: FaultContext) -> None:
    request.set("Origin", None)


@on_call("serves an Origin that starts with http://localhost", breaks="CONF-SEC-04.origin")
def origin_by_prefix(request: Request, context: FaultContext) -> None:
    if (request.header("origin") or "").startswith("http://localhost"):
        request.set("Origin", None)


@on_call("shows the manifests to everyone", breaks="CONF-SEC-04.manifests", server=SERVER)
def manifests_for_all(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if request.target in MANIFESTS:
        as_first(request, context)
