"""Access tokens: the profile refuses every token that is missing, forged, expired or meant for others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

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
from assay.lab.harness.check import Check
from assay.lab.harness.driver.stage import open_admitted, send_opening_by_query, try_open
from assay.lab.harness.need import (
    A_FOREIGN_TOKEN,
    A_FUTURE_TOKEN,
    A_SKEWED_TOKEN,
    A_TOKEN_OF_ANOTHER_ISSUER,
    AN_EXPIRED_TOKEN,
    PROTECTED,
    Need,
)
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.harness.scenario import Scenario
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
from assay.lab.harness.trace.authorization import (
    METADATA,
    bearer_challenge,
    calls_with,
    in_query,
    is_admitted,
    outcome_text,
)
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

from .admission import SERVER, UNAUTHORIZED, challenges, judge_refused, without_token

PREFIX: Final = "CONF-SEC-04."


class RefusedToken(NamedTuple):
    """A kind of token that gets 401: one scenario, one check and one requirement of the same name."""

    name: str
    kind: str
    need: Need
    description: str
    """Completes "a token …"."""


REFUSED: Final = (
    RefusedToken("audience", FOREIGN, A_FOREIGN_TOKEN, "for another server"),
    RefusedToken("expired", EXPIRED, AN_EXPIRED_TOKEN, "that has expired"),
    RefusedToken("issuer", OTHER_ISSUER, A_TOKEN_OF_ANOTHER_ISSUER, "of another issuer"),
    RefusedToken("not-yet", NOT_YET, A_FUTURE_TOKEN, "that is not valid yet"),
)

# --- what is asked


def _send(token: RefusedToken) -> Scenario:
    async def drive(stage: Stage) -> None:
        await _try(stage, token.kind)

    return scenario(
        f"Send a token {token.description}",
        id=f"sec.{token.name}",
        exercises=(f"sec.{token.name}",),
        needs=(PROTECTED, token.need),
        transports=HTTP_ONLY,
    )(drive)


async def _try(stage: Stage, kind: str) -> None:
    await open_admitted(stage)
    # A token that becomes valid later is issued now, so that it still is not valid when it is sent.
    if kind not in AHEAD or await stage.tokens.renew(kind):
        await try_open(stage, kind)


SCENARIOS: Final = tuple(_send(token) for token in REFUSED)
NEVER_ISSUED: Final = (MALFORMED, GARBAGE, ALTERED, UNSIGNED, FORGED, STRANGER)


@scenario(
    "Send tokens that the issuer did not issue",
    exercises=("sec.bad-tokens",),
    needs=(PROTECTED,),
    transports=HTTP_ONLY,
)
async def drive_bad_tokens(stage: Stage) -> None:
    await open_admitted(stage)
    for kind in NEVER_ISSUED:
        if kind in stage.facts.bearers:
            await try_open(stage, kind)


BARE: Final = {"Authorization": None}


@scenario("Send no token", exercises=("sec.no-token",), needs=(PROTECTED,), transports=HTTP_ONLY)
async def drive_no_token(stage: Stage) -> None:
    peer = await open_admitted(stage)
    await try_open(stage, NONE)
    # A session id alone does not authenticate anyone.
    for method in (stage.plain, "tools/list"):
        pending = await peer.start(method, headers=BARE)
        assert pending.sent is not None
        await pending.sent.settled(peer.patience)
    if stage.revision.http.sessions:
        await peer.wait_accepted(await peer.http.listen(**BARE))


@scenario("Send the token in the URL", exercises=("sec.query",), needs=(PROTECTED,), transports=HTTP_ONLY)
async def drive_query(stage: Stage) -> None:
    await open_admitted(stage)
    await send_opening_by_query(stage)


@scenario(
    "Send a token from an issuer whose clock is ahead",
    exercises=("sec.skew",),
    needs=(PROTECTED, A_SKEWED_TOKEN),
    transports=HTTP_ONLY,
)
async def drive_skew(stage: Stage) -> None:
    await _try(stage, SKEWED)


# --- how it is judged


def _refuse(token: RefusedToken) -> Check:
    requirement = f"{PREFIX}{token.name}"
    return profile_check(
        f"A token {token.description} gets 401",
        id=f"sec.{token.name}",
        requirements=(requirement,),
        transports=HTTP_ONLY,
    )(lambda trace: judge_refused(trace, {token.kind: requirement}))


CHECKS: Final = tuple(_refuse(token) for token in REFUSED)
INVALID: Final = {
    GARBAGE: f"{PREFIX}malformed",
    ALTERED: f"{PREFIX}signature",
    UNSIGNED: f"{PREFIX}unsigned",
    FORGED: f"{PREFIX}forged",
    STRANGER: f"{PREFIX}forged",
}
UNREADABLE: Final = (400, 401)
"""HTTP leaves open whether malformed credentials are invalid or absent."""


@profile_check(
    "A token that the issuer did not issue gets 401",
    requirements=(f"{PREFIX}malformed", f"{PREFIX}signature", f"{PREFIX}unsigned", f"{PREFIX}forged"),
    transports=HTTP_ONLY,
)
def judge_bad_tokens(trace: Trace) -> Iterator[Observation]:
    yield from judge_refused(trace, INVALID)
    for _, call in calls_with(trace, MALFORMED):
        refused = call.status in UNREADABLE
        yield observe(
            INVALID[GARBAGE], refused, call, expected="status 401 or 400", observed=outcome_text(call)
        )


@profile_check(
    "Requests without a token get 401 and a challenge",
    requirements=(f"{PREFIX}no-token",),
    transports=HTTP_ONLY,
)
def judge_no_token(trace: Trace) -> Iterator[Observation]:
    for call in without_token(trace):
        if call.sent.method != "POST" and call.status == 405:
            continue  # the server has no such method for anyone
        holds = call.status == UNAUTHORIZED and _names_metadata(call)
        expected = f"status {UNAUTHORIZED} and WWW-Authenticate: Bearer with a URL as {METADATA}"
        observed = f"{outcome_text(call)}, {challenges(call)}"
        yield observe(f"{PREFIX}no-token", holds, call, expected=expected, observed=observed)


def _names_metadata(call: Call) -> bool:
    challenge = bearer_challenge(call.head)
    url = "" if challenge is None else challenge.params.get(METADATA, "")
    return url.startswith(("https://", "http://"))


@profile_check("A token in the URL is not accepted", requirements=(f"{PREFIX}query",), transports=HTTP_ONLY)
def judge_query(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if in_query(call) and call.head is not None:
            refused = not is_admitted(call)
            yield observe(f"{PREFIX}query", refused, call, expected="a refusal", observed=outcome_text(call))


@profile_check("Clocks may differ by a few seconds", requirements=(f"{PREFIX}skew",), transports=HTTP_ONLY)
def judge_skew(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, SKEWED):
        observed = f"{outcome_text(call)} for a token whose nbf is {AHEAD[SKEWED]} s from now"
        yield observe(f"{PREFIX}skew", is_admitted(call), call, expected="a result", observed=observed)


# --- what the checks must catch


def _accepts(
    name: str, fault: str, breaks: str, is_accepted: Callable[[Request, FaultContext], bool], **options: Any
) -> Saboteur:
    """A server that treats these requests as if they carried the first, valid credentials."""

    def change(request: Request, context: FaultContext) -> None:
        remember_first(request, context)
        if is_accepted(request, context):
            as_first(request, context)

    saboteur: Saboteur = on_call(
        fault, id=f"sec.{name}", breaks=f"{PREFIX}{breaks}", server=SERVER, **options
    )(change)
    return saboteur


def _differs(claim: str) -> Callable[[Request, FaultContext], bool]:
    return lambda request, context: claims(request).get(claim) != first_claims(context).get(claim)


def _is_signed_by(*algorithms: str) -> Callable[[Request, FaultContext], bool]:
    return lambda request, context: header(request).get("alg") in algorithms


def _is_forged(request: Request, context: FaultContext) -> bool:
    sent, first = claims(request), first_claims(context)
    same = all(sent.get(claim) == first.get(claim) for claim in ("iss", "aud", "scope", "nbf"))
    by_key = header(request).get("alg") not in ("none", "HS256")
    return by_key and sent != first and same and not is_expired(request)


def _is_altered(request: Request, context: FaultContext) -> bool:
    return header(request).get("alg") != "none" and claims(request) == first_claims(context)


ACCEPTS: Final = (
    _accepts("audience-not-read", "accepts a token for another server", "audience", _differs("aud")),
    _accepts("issuer-not-read", "accepts a token of another issuer", "issuer", _differs("iss")),
    _accepts("any-key", "accepts a token signed with an unknown key", "forged", _is_forged),
    _accepts("any-secret", "accepts a token signed with any HMAC secret", "forged", _is_signed_by("HS256")),
    _accepts("algorithm-none", "accepts a token with alg none", "unsigned", _is_signed_by("none")),
    _accepts("signature-not-read", "does not verify signatures", "signature", _is_altered),
    _accepts(
        "expiry-not-read", "accepts an expired token", "expired", lambda request, _: is_expired(request)
    ),
    _accepts(
        "beginning-not-read",
        "accepts a token that is not valid yet",
        "not-yet",
        lambda request, _: "nbf" in claims(request),
    ),
    _accepts(
        "open-door", "serves requests without a token", "no-token", lambda request, _: lacks_token(request)
    ),
    _accepts(
        "lists-for-all",
        "serves lists without a token",
        "no-token",
        lambda request, _: lacks_token(request) and b'"tools/list"' in request.body,
    ),
    _accepts(
        "session-for-token",
        "serves requests with a session id and no token",
        "no-token",
        lambda request, _: lacks_token(request) and request.header("mcp-session-id") is not None,
        window=lambda revision: revision.http.sessions,
    ),
)


@on_response("refuses an invalid token with 403", breaks=f"{PREFIX}malformed", server=SERVER)
def garbage_forbidden(response: Response, context: FaultContext) -> None:
    has_token = context.call is not None and context.call.header("authorization") is not None
    if response.status == 401 and has_token:
        response.status = 403


@on_call("fails with 500 on a malformed token", breaks=f"{PREFIX}malformed", server=SERVER)
def stumbles(request: Request, context: FaultContext) -> Response | None:
    return None if lacks_token(request) or claims(request) else Response([], 500)


@on_response("names no metadata in the challenge", breaks=f"{PREFIX}no-token", server=SERVER)
def no_way_on(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "resource_metadata")


@on_call("accepts a token in the URL", breaks=f"{PREFIX}query", server=SERVER)
def token_in_address(request: Request, context: FaultContext) -> None:
    path, separator, token = request.target.partition("?access_token=")
    if separator:
        request.target = path
        request.set("Authorization", f"Bearer {token}")


@on_call("refuses a token that becomes valid in a few seconds", breaks=f"{PREFIX}skew", server=SERVER)
def own_clock_alone(request: Request, context: FaultContext) -> Response | None:
    begins = claims(request).get("nbf")
    return Response([], 401) if isinstance(begins, int) and begins > time.time() else None
