"""Access tokens that the profile refuses."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

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
    scenario,
)
from assay.lab.harness.driver.try_open import ask_by_query, come_in, try_open
from assay.lab.harness.need import (
    A_FOREIGN_TOKEN,
    A_SKEWED_TOKEN,
    A_TOKEN_OF_ANOTHER_ISSUER,
    A_TOKEN_TO_COME,
    AN_EXPIRED_TOKEN,
    PROTECTED,
)
from assay.lab.harness.subject.bearer import (
    AHEAD,
    ALTERED,
    EXPIRED,
    FOREIGN,
    FORGED,
    GARBAGE,
    MALFORMED,
    NONE,
    NOT_YET,
    OTHER_ISSUER,
    SKEWED,
    STRANGER,
    UNSIGNED,
)
from assay.lab.harness.trace.admission import calls_with, in_query, is_let_in, told
from assay.lab.harness.trace.challenge import HEADER, METADATA, bearer_challenge
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.declaration import profile_check
from assay.lab.suite.protected_fault import (
    as_first,
    claims,
    drop_from_challenge,
    first_claims,
    header,
    is_expired,
    lacks_token,
    remember_first,
)

from .admission import SERVER, UNAUTHORIZED, refusals, without_token


async def knock_ahead(stage: Stage, kind: str) -> None:
    """After the control, ask with a token that is not good yet; it is made now, so that it still is not."""
    await come_in(stage)
    if await stage.wallet.renew(kind):
        await try_open(stage, kind)


# --- what is asked


@scenario(
    "The token is for another server",
    exercises=("sec.audience",),
    needs=(PROTECTED, A_FOREIGN_TOKEN),
    transports=HTTP_ONLY,
)
async def drive_audience(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, FOREIGN)


SHOWN = (MALFORMED, GARBAGE, ALTERED, UNSIGNED, FORGED, STRANGER)


@scenario("Nobody issued the token", exercises=("sec.bad-tokens",), needs=(PROTECTED,), transports=HTTP_ONLY)
async def drive_bad_tokens(stage: Stage) -> None:
    await come_in(stage)
    for kind in SHOWN:
        if kind in stage.facts.bearers:
            await try_open(stage, kind)


@scenario(
    "The token has expired",
    exercises=("sec.expired",),
    needs=(PROTECTED, AN_EXPIRED_TOKEN),
    transports=HTTP_ONLY,
)
async def drive_expired(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, EXPIRED)


@scenario(
    "The token is of another issuer",
    exercises=("sec.issuer",),
    needs=(PROTECTED, A_TOKEN_OF_ANOTHER_ISSUER),
    transports=HTTP_ONLY,
)
async def drive_issuer(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, OTHER_ISSUER)


BARE = {"Authorization": None}


@scenario("Nobody shows a token", exercises=("sec.no-token",), needs=(PROTECTED,), transports=HTTP_ONLY)
async def drive_no_token(stage: Stage) -> None:
    peer = await come_in(stage)
    await try_open(stage, NONE)
    # Who knows the id of a session is not yet whom it belongs to.
    pending = await peer.start(stage.plain, headers=BARE)
    assert pending.sent is not None
    await pending.sent.settled(peer.patience)
    if stage.revision.http.sessions:
        await peer.taken(await peer.http.listen(**BARE))


@scenario(
    "The token is to be good later",
    exercises=("sec.not-yet",),
    needs=(PROTECTED, A_TOKEN_TO_COME),
    transports=HTTP_ONLY,
)
async def drive_not_yet(stage: Stage) -> None:
    await knock_ahead(stage, NOT_YET)


@scenario("The token is in the address", exercises=("sec.query",), needs=(PROTECTED,), transports=HTTP_ONLY)
async def drive_query(stage: Stage) -> None:
    await come_in(stage)
    await ask_by_query(stage)


@scenario(
    "The clock of the issuer is ahead",
    exercises=("sec.skew",),
    needs=(PROTECTED, A_SKEWED_TOKEN),
    transports=HTTP_ONLY,
)
async def drive_skew(stage: Stage) -> None:
    await knock_ahead(stage, SKEWED)


# --- how it is judged


ROW: Final = "CONF-SEC-04.audience"


@profile_check("A token for another server gets 401", requirements=(ROW,), transports=HTTP_ONLY)
def judge_audience(trace: Trace) -> Iterator[Observation]:
    return refusals(trace, {FOREIGN: ROW})


NO_TOKEN: Final = "CONF-SEC-04.malformed"
ROWS: Final = {
    GARBAGE: NO_TOKEN,
    ALTERED: "CONF-SEC-04.signature",
    UNSIGNED: "CONF-SEC-04.unsigned",
    FORGED: "CONF-SEC-04.forged",
    STRANGER: "CONF-SEC-04.forged",
}
UNREADABLE: Final = (400, 401)
"""Whether credentials that do not even have the form of a token are wrong or none, HTTP leaves open."""


@profile_check("A bad token gets 401", requirements=tuple(dict.fromkeys(ROWS.values())), transports=HTTP_ONLY)
def judge_bad_tokens(trace: Trace) -> Iterator[Observation]:
    yield from refusals(trace, ROWS)
    for _, call in calls_with(trace, MALFORMED):
        right = call.status in UNREADABLE
        yield observe(NO_TOKEN, right, call, expected="status 401 or 400", observed=told(call))


EXPIRED_ROW: Final = "CONF-SEC-04.expired"


@profile_check("An expired token gets 401", requirements=(EXPIRED_ROW,), transports=HTTP_ONLY)
def judge_expired(trace: Trace) -> Iterator[Observation]:
    return refusals(trace, {EXPIRED: EXPIRED_ROW})


ISSUER_ROW: Final = "CONF-SEC-04.issuer"


@profile_check("A token of another issuer gets 401", requirements=(ISSUER_ROW,), transports=HTTP_ONLY)
def judge_issuer(trace: Trace) -> Iterator[Observation]:
    return refusals(trace, {OTHER_ISSUER: ISSUER_ROW})


NO_TOKEN_ROW: Final = "CONF-SEC-04.no-token"
NOT_ALLOWED: Final = 405


@profile_check("Without a token nobody is let in", requirements=(NO_TOKEN_ROW,), transports=HTTP_ONLY)
def judge_no_token(trace: Trace) -> Iterator[Observation]:
    for call in without_token(trace):
        if call.sent.method != "POST" and call.status == NOT_ALLOWED:
            continue  # nobody is served in that way
        seen = f"{told(call)}, {_challenge(call)}"
        right = call.status == UNAUTHORIZED and _names_metadata(call)
        wanted = f"status {UNAUTHORIZED} and WWW-Authenticate: Bearer with the URL as {METADATA}"
        yield observe(NO_TOKEN_ROW, right, call, expected=wanted, observed=seen)


def _challenge(call: Call) -> str:
    return ", ".join([] if call.head is None else call.head.all(HEADER)) or "no challenge"


def _names_metadata(call: Call) -> bool:
    challenge = bearer_challenge(call.head)
    place = "" if challenge is None else challenge.params.get(METADATA, "")
    return place.startswith(("https://", "http://"))


NOT_YET_ROW: Final = "CONF-SEC-04.not-yet"


@profile_check("A token that is to be good later gets 401", requirements=(NOT_YET_ROW,), transports=HTTP_ONLY)
def judge_not_yet(trace: Trace) -> Iterator[Observation]:
    return refusals(trace, {NOT_YET: NOT_YET_ROW})


QUERY_ROW: Final = "CONF-SEC-04.query"


@profile_check("A token in the address is not taken", requirements=(QUERY_ROW,), transports=HTTP_ONLY)
def judge_query(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if in_query(call) and call.head is not None:
            yield observe(QUERY_ROW, not is_let_in(call), call, expected="a refusal", observed=told(call))


SKEW_ROW: Final = "CONF-SEC-04.skew"


@profile_check("Clocks may differ by some seconds", requirements=(SKEW_ROW,), transports=HTTP_ONLY)
def judge_skew(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, SKEWED):
        seen = f"{told(call)} for a token whose nbf is {AHEAD[SKEWED]} s from now"
        yield observe(SKEW_ROW, is_let_in(call), call, expected="to be let in", observed=seen)


# --- what the checks must catch


@on_call("a token for another server is taken", breaks="CONF-SEC-04.audience", server=SERVER)
def audience_not_read(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("aud") != first_claims(context).get("aud"):
        as_first(request, context)


@on_call("a token that a stranger has signed is taken", breaks="CONF-SEC-04.forged", server=SERVER)
def any_key(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    said, first = claims(request), first_claims(context)
    by_key = header(request).get("alg") not in ("none", "HS256")
    if by_key and said != first and _about(said) == _about(first) and not is_expired(request):
        as_first(request, context)


def _about(said: dict[str, Any]) -> tuple[Any, ...]:
    return said.get("iss"), said.get("aud"), said.get("scope"), said.get("nbf")


@on_call("a token signed by HMAC with any secret is taken", breaks="CONF-SEC-04.forged", server=SERVER)
def any_secret(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if header(request).get("alg") == "HS256":
        as_first(request, context)


@on_response("a bad token gets 403", breaks="CONF-SEC-04.malformed", server=SERVER)
def garbage_forbidden(response: Response, context: FaultContext) -> None:
    if (
        response.status == 401
        and context.call is not None
        and context.call.header("authorization") is not None
    ):
        response.status = 403


@on_call("what is no token gets 500", breaks="CONF-SEC-04.malformed", server=SERVER)
def stumbles(request: Request, context: FaultContext) -> Response | None:
    return None if lacks_token(request) or claims(request) else Response([], 500)


@on_call("the signature of a token is not verified", breaks="CONF-SEC-04.signature", server=SERVER)
def signature_not_read(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if header(request).get("alg") != "none" and claims(request) == first_claims(context):
        as_first(request, context)


@on_call("a token under alg none is taken", breaks="CONF-SEC-04.unsigned", server=SERVER)
def algorithm_none(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if header(request).get("alg") == "none":
        as_first(request, context)


@on_call("an expired token is taken", breaks="CONF-SEC-04.expired", server=SERVER)
def expiry_not_read(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if is_expired(request):
        as_first(request, context)


@on_call("a token of another issuer is taken", breaks="CONF-SEC-04.issuer", server=SERVER)
def issuer_not_read(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("iss") != first_claims(context).get("iss"):
        as_first(request, context)


@on_response("the challenge names no metadata", breaks="CONF-SEC-04.no-token", server=SERVER)
def no_way_on(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "resource_metadata")


@on_call("requests without a token are served", breaks="CONF-SEC-04.no-token", server=SERVER)
def open_door(request: Request, context: FaultContext) -> None:
    if lacks_token(request):
        as_first(request, context)
    else:
        remember_first(request, context)


@on_call(
    "who knows a session needs no token",
    breaks="CONF-SEC-04.no-token",
    server=SERVER,
    window=lambda revision: revision.http.sessions,
)
def session_for_token(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if lacks_token(request) and request.header("mcp-session-id") is not None:
        as_first(request, context)


@on_call("a token that is to be good later is taken", breaks="CONF-SEC-04.not-yet", server=SERVER)
def beginning_not_read(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if "nbf" in claims(request):
        as_first(request, context)


@on_call("a token in the address is taken", breaks="CONF-SEC-04.query", server=SERVER)
def token_in_address(request: Request, context: FaultContext) -> None:
    path, found, token = request.target.partition("?access_token=")
    if found:
        request.target = path
        request.set("Authorization", f"Bearer {token}")


@on_call("a token that is to be good in some seconds is refused", breaks="CONF-SEC-04.skew", server=SERVER)
def own_clock_alone(request: Request, context: FaultContext) -> Response | None:
    begins = claims(request).get("nbf")
    return Response([], 401) if isinstance(begins, int) and begins > time.time() else None
