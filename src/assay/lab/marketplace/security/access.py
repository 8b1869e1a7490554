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
from assay.lab.harness.driver.try_open import ask, come_in, try_open
from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.links.identity import CERTIFICATE, REFUSED
from assay.lab.harness.need import A_WEAK_TOKEN, CERTIFIED, LOCAL, PROTECTED
from assay.lab.harness.subject.bearer import GARBAGE, NONE, STRANGER, WEAK, claims_of
from assay.lab.harness.trace.admission import calls_with, is_let_in, told
from assay.lab.harness.trace.challenge import HEADER, bearer_challenge
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.declaration import profile_check
from assay.lab.suite.protected_fault import as_first, claims, drop_from_challenge, remember_first
from assay.lab.suite.scope_probe import requests

from .admission import CERTIFIED_SERVER, MANIFESTS, SERVER, UNAUTHORIZED, without_token

GRANTED: Final = "granted"
"""The note that says what the weak token has; `scopes` is none where that cannot be read."""


def granted_to(token: str) -> list[str] | None:
    """The scopes of a token; none where it does not say."""
    claims = claims_of(token) or {}
    match claims.get("scope", claims.get("scp")):
        case str(words):
            return words.split()
        case list(words):
            return [str(word) for word in words]
    return None


def missing(trace: Trace) -> list[str]:
    """What the challenge to nobody asks for and the weak token does not have; none where that is unknown."""
    note = next(trace.marks(GRANTED), None)
    granted = None if note is None else note.info.get("scopes")
    if not isinstance(granted, list):
        return []
    found = (bearer_challenge(call.head) for call in without_token(trace))
    asked = {scope for challenge in found if challenge is not None for scope in challenge.scopes}
    return sorted(asked - set(granted))


# --- what is asked


@scenario(
    "The scope of the token is too small",
    exercises=("sec.scope",),
    needs=(PROTECTED, A_WEAK_TOKEN),
    transports=HTTP_ONLY,
)
async def drive_scope(stage: Stage) -> None:
    await come_in(stage)
    # Its challenge says what it takes; what the token has is not to be seen on the wire.
    await try_open(stage, NONE)
    stage.note(GRANTED, scopes=granted_to(stage.wallet.get(WEAK) or ""))
    async for _ in requests(stage, await stage.connect(WEAK)):
        pass


@scenario("Who shows a certificate", exercises=("sec.certificate",), needs=(CERTIFIED,), transports=HTTP_ONLY)
async def drive_certificate(stage: Stage) -> None:
    await come_in(stage)
    for kind in (NONE, STRANGER):
        peer = await stage.connect(certificate=kind)
        try:
            await ask(stage, peer)
        except Unreachable as reason:
            # Where TLS refuses at once, nothing passes that could be recorded.
            peer.mark(REFUSED, shows=kind, reason=str(reason))


FOREIGN = "https://pages.example"
ALIKE = "http://localhost.pages.example"
"""Begins like a name of this machine."""
REBOUND = "pages.example"
"""The host of a page whose name was made to point here: a browser need not send an Origin then."""
SENT = ({"Origin": FOREIGN}, {"Origin": ALIKE}, {"Host": REBOUND}, {"Host": REBOUND, "Origin": FOREIGN})


@scenario(
    "A page of another site asks", exercises=("sec.foreign-pages",), needs=(LOCAL,), transports=HTTP_ONLY
)
async def drive_foreign_pages(stage: Stage) -> None:
    peer = await stage.open()
    # The control: the same request of nobody's page.
    await peer.request(stage.plain)
    for headers in SENT:
        pending = await peer.start(stage.plain, headers=headers)
        assert pending.sent is not None
        await pending.sent.settled(peer.patience)


@scenario(
    "Who may read the manifests", exercises=("sec.manifests",), needs=(PROTECTED,), transports=HTTP_ONLY
)
async def drive_manifests(stage: Stage) -> None:
    await _read(await come_in(stage))
    await _read(await stage.connect(GARBAGE))
    await _read(await stage.connect(NONE))


async def _read(peer: Peer) -> None:
    for place in MANIFESTS:
        sent = await peer.http.call("GET", headers={"Accept": JSON}, target=place)
        await sent.settled(peer.patience)


# --- how it is judged


ROW: Final = "CONF-SEC-04.scope"
ERROR: Final = "insufficient_scope"
EXPECTED: Final = f'status 403 and WWW-Authenticate: Bearer error="{ERROR}"'


@profile_check("Too small a scope gets 403", requirements=(ROW,), transports=HTTP_ONLY)
def judge_scope(trace: Trace) -> Iterator[Observation]:
    shown = [call for _, call in calls_with(trace, WEAK)]
    refused = [call for call in shown if call.status in (401, 403)]
    for call in refused:
        yield observe(ROW, _is_told(call), call, expected=EXPECTED, observed=f"{told(call)}, {_said(call)}")
    lacking = missing(trace)
    served = [call for call in shown if is_let_in(call)]
    # Some of what a server does may be for everybody; with nothing refused, it does not ask for the scope.
    if lacking and served and not refused:
        seen = f"{len(served)} requests served without {' '.join(lacking)}, and none refused"
        yield observe(ROW, False, *served, expected=EXPECTED, observed=seen)


def _is_told(call: Call) -> bool:
    challenge = bearer_challenge(call.head)
    return call.status == 403 and challenge is not None and challenge.params.get("error") == ERROR


def _said(call: Call) -> str:
    return ", ".join([] if call.head is None else call.head.all(HEADER)) or "no challenge"


CERTIFICATE_ROW: Final = "CONF-SEC-04.certificate"
CERTIFICATE_EXPECTED: Final = "no connection, or a status of 4xx"


@profile_check(
    "Nobody is let in without a certificate that counts",
    requirements=(CERTIFICATE_ROW,),
    transports=HTTP_ONLY,
)
def judge_certificate(trace: Trace) -> Iterator[Observation]:
    shown = {mark.connection: mark.info.get("shows") for mark in trace.marks(CERTIFICATE)}
    for call in trace.calls:
        if call.request.connection in shown and (call.head is not None or call.is_over):
            seen = f"{told(call)} with a certificate that is {shown[call.request.connection]}"
            yield observe(
                CERTIFICATE_ROW, _is_refused(call), call, expected=CERTIFICATE_EXPECTED, observed=seen
            )
    for mark in trace.marks(REFUSED):
        yield observe(
            CERTIFICATE_ROW, True, mark, expected=CERTIFICATE_EXPECTED, observed=mark.info.get("reason")
        )


def _is_refused(call: Call) -> bool:
    return call.head is None or 400 <= call.status < 500


ORIGIN: Final = "CONF-SEC-04.origin"
HOST: Final = "CONF-SEC-04.host"


@profile_check("Pages of other sites are refused", requirements=(ORIGIN, HOST), transports=HTTP_ONLY)
def judge_foreign_pages(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        host, origin = call.sent.get("host") or "", call.sent.get("origin")
        if call.head is None:
            continue
        if not is_local(host):
            seen = f"{told(call)} for Host {host}"
            yield observe(HOST, _foreign_pages_is_refused(call), call, expected="a refusal", observed=seen)
        elif origin is not None and not is_local(origin.partition("://")[2]):
            seen = f"{told(call)} for Origin {origin}"
            yield observe(ORIGIN, call.status == 403, call, expected="status 403", observed=seen)


def _foreign_pages_is_refused(call: Call) -> bool:
    return 400 <= call.status < 500


MANIFESTS_ROW: Final = "CONF-SEC-04.manifests"


@profile_check("Manifests take a token", requirements=(MANIFESTS_ROW,), transports=HTTP_ONLY)
def judge_manifests(trace: Trace) -> Iterator[Observation]:
    refused = [
        (kind, call) for kind, call in calls_with(trace, NONE, GARBAGE) if call.sent.target in MANIFESTS
    ]
    others = {id(call) for _, call in refused}
    shown = {call.sent.target for call in trace.calls if id(call) not in others and _is_shown(call)}
    for kind, call in refused:
        # One that is shown to nobody is missed by another row.
        if call.sent.target in shown or _is_shown(call):
            right = call.status == UNAUTHORIZED
            seen = f"{told(call)} for {call.sent.target} with a token that is {kind}"
            yield observe(MANIFESTS_ROW, right, call, expected=f"status {UNAUTHORIZED}", observed=seen)


def _is_shown(call: Call) -> bool:
    return call.sent.target in MANIFESTS and 200 <= call.status < 300


# --- what the checks must catch


@on_call("a token without scopes is good for everything", breaks="CONF-SEC-04.scope", server=SERVER)
def scope_not_read(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("scope") == "":
        as_first(request, context)


@on_response("too small a scope gets 401", breaks="CONF-SEC-04.scope", server=SERVER)
def scope_unauthorized(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        response.status = 401


@on_response("the challenge has no insufficient_scope", breaks="CONF-SEC-04.scope", server=SERVER)
def scope_without_error(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        drop_from_challenge(response, "error")


@on_handshake("certificates are not asked for", breaks="CONF-SEC-04.certificate", server=CERTIFIED_SERVER)
def any_certificate(context: ssl.SSLContext) -> None:
    context.verify_mode = ssl.CERT_NONE


@on_handshake("who shows no certificate is let in", breaks="CONF-SEC-04.certificate", server=CERTIFIED_SERVER)
def certificate_if_there(context: ssl.SSLContext) -> None:
    context.verify_mode = ssl.CERT_OPTIONAL


@on_call("a foreign Host is served", breaks="CONF-SEC-04.host")
def any_host(request: Request, context: FaultContext) -> None:
    request.set("Host", "localhost")
    if request.header("origin") == "https://pages.example":
        request.set("Origin", None)


@on_call("a foreign Origin is served", breaks="CONF-SEC-04.origin")
def any_origin(request: Request, context: FaultContext) -> None:
    request.set("Origin", None)


@on_call("an Origin that begins like localhost is served", breaks="CONF-SEC-04.origin")
def origin_by_prefix(request: Request, context: FaultContext) -> None:
    if (request.header("origin") or "").startswith("http://localhost"):
        request.set("Origin", None)


@on_call("the manifests are shown to everybody", breaks="CONF-SEC-04.manifests", server=SERVER)
def manifests_for_all(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if request.target in MANIFESTS:
        as_first(request, context)
