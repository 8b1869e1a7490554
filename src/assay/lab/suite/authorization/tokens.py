"""Access tokens: which ones a protected server refuses, and with which status."""

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
from assay.lab.harness.driver.stage import open_admitted, send_opening_by_query, try_open
from assay.lab.harness.need import A_FOREIGN_TOKEN, AN_EXPIRED_TOKEN, PROTECTED
from assay.lab.harness.sabotage.saboteur import WITH_TOKENS, newest_of_each_kind
from assay.lab.harness.subject.bearer import (
    ALTERED,
    EXPIRED,
    FOREIGN,
    FORGED,
    GARBAGE,
    MALFORMED,
    NONE,
    OTHER_ISSUER,
    UNSIGNED,
)
from assay.lab.harness.trace.authorization import calls_with, in_query, is_admitted, is_opening, outcome_text
from assay.lab.harness.transport import GUARDED, HTTP_ONLY
from assay.lab.suite.protected_fault import (
    admits,
    claims,
    first_claims,
    has_other_audience,
    header,
    is_expired,
    lacks_token,
)

# --- what is asked


@scenario(
    "Open with invalid tokens",
    exercises=("authorization.bad-token", "authorization.malformed-token"),
    needs=(PROTECTED,),
    transports=GUARDED,
)
async def drive_bad_tokens(stage: Stage) -> None:
    await open_admitted(stage)
    for kind in (MALFORMED, GARBAGE, ALTERED, UNSIGNED, FORGED, OTHER_ISSUER):
        if kind in stage.facts.bearers:
            await try_open(stage, kind)


@scenario(
    "Open with an expired token",
    exercises=("authorization.bad-token",),
    needs=(PROTECTED, AN_EXPIRED_TOKEN),
    transports=GUARDED,
)
async def drive_expired_token(stage: Stage) -> None:
    await open_admitted(stage)
    await try_open(stage, EXPIRED)


@scenario("Open with a token for another server", needs=(PROTECTED, A_FOREIGN_TOKEN), transports=GUARDED)
async def drive_foreign_token(stage: Stage) -> None:
    await open_admitted(stage)
    await try_open(stage, FOREIGN)
    if OTHER_ISSUER in stage.facts.bearers:
        await try_open(stage, OTHER_ISSUER)


@scenario(
    "Open without a token",
    exercises=("authorization.missing-token", "authorization.challenge"),
    needs=(PROTECTED,),
    transports=GUARDED,
)
async def drive_missing_token(stage: Stage) -> None:
    await open_admitted(stage)
    await try_open(stage, NONE)


@scenario("Send a token in the query", needs=(PROTECTED,), transports=HTTP_ONLY)
async def drive_query_token(stage: Stage) -> None:
    await open_admitted(stage)
    await send_opening_by_query(stage)


# --- how it is judged


BY_KIND: Final = {FOREIGN: ("AU-64", "AU-66", "SEC-05"), OTHER_ISSUER: ("AU-66",)}


@check("A token for another server is refused", requirements=("AU-64", "AU-66", "SEC-05"), transports=GUARDED)
def judge_foreign_token(trace: Trace) -> Iterator[Observation]:
    for kind, call in calls_with(trace, *BY_KIND):
        for requirement in BY_KIND[kind]:
            observed = f"{outcome_text(call)} for a token that is {kind}"
            yield observe(requirement, not is_admitted(call), call, expected="a refusal", observed=observed)


@check(
    "A request without a token gets 401",
    requirements={"AU-05": "A request without a token was not refused with 401"},
    transports=GUARDED,
)
def judge_missing_token(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if is_opening(call):
            yield observe(
                "AU-05", call.status == 401, call, expected="status 401", observed=outcome_text(call)
            )


@check(
    "A token in the query is refused",
    requirements={"AU-63": "A token in the query was accepted"},
    transports=HTTP_ONLY,
)
def judge_query_token(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if in_query(call):
            yield observe(
                "AU-63", not is_admitted(call), call, expected="a refusal", observed=outcome_text(call)
            )


@check(
    "An invalid token gets 401",
    requirements={
        "AU-05": "Invalid authorization was not refused with 401",
        "AU-63": "An invalid token was accepted",
        "AU-65": "An invalid or expired token was not refused with 401",
    },
    transports=GUARDED,
)
def judge_bad_token(trace: Trace) -> Iterator[Observation]:
    for kind, call in calls_with(trace, GARBAGE, ALTERED, UNSIGNED, FORGED, EXPIRED, OTHER_ISSUER):
        observed = f"{outcome_text(call)} for a token that is {kind}"
        yield observe("AU-63", not is_admitted(call), call, expected="a refusal", observed=observed)
        for requirement in ("AU-05", "AU-65"):
            yield observe(requirement, call.status == 401, call, expected="status 401", observed=observed)


@check(
    "Malformed credentials get 400 or 401",
    requirements={"AU-06": "Malformed credentials were refused with another status than 400 or 401"},
    transports=GUARDED,
)
def judge_malformed_token(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, MALFORMED):
        # The specification does not say whether such credentials are malformed or missing.
        valid = call.status in (400, 401)
        yield observe("AU-06", valid, call, expected="status 400 or 401", observed=outcome_text(call))


# --- what the checks must catch


OTHER_AUDIENCE: Final = (
    admits(
        "accepts a token with another audience",
        breaks="AU-64",
        id="authorization.audience-not-read",
        transports=GUARDED,
    )(has_other_audience),
    admits(
        "accepts tokens that its issuer issued for other servers",
        breaks="AU-66",
        id="authorization.any-token-of-issuer",
        transports=GUARDED,
    )(has_other_audience),
    admits(
        "accepts tokens that were not issued for this server",
        breaks="SEC-05",
        id="security.tokens-of-neighbours",
    )(has_other_audience),
)


@on_response("refuses a request without a token with 403", breaks="AU-05", server=WITH_TOKENS)
def forbidden_without_token(response: Response, context: FaultContext) -> None:
    if response.status == 401:
        response.status = 403


@admits("serves requests without a token", breaks="AU-05", transports=GUARDED)
def open_door(request: Request, context: FaultContext) -> bool:
    return lacks_token(request)


@admits("accepts a token with `alg: none`", breaks="AU-63", window=newest_of_each_kind)
def algorithm_none(request: Request, context: FaultContext) -> bool:
    return header(request).get("alg") == "none"


@admits("does not verify the signature of a token", breaks="AU-63", transports=GUARDED)
def signature_not_read(request: Request, context: FaultContext) -> bool:
    return claims(request).get("iss") == first_claims(context).get("iss") and not is_expired(request)


@on_call("accepts a token in the query", breaks="AU-63", server=WITH_TOKENS, window=newest_of_each_kind)
def token_in_query(request: Request, context: FaultContext) -> None:
    target, separator, token = request.target.partition("access_token=")
    if separator:
        request.target = target.partition("?")[0]
        request.set("Authorization", f"Bearer {token}")


@on_response("refuses an invalid token with 403", breaks="AU-65", server=WITH_TOKENS)
def bad_token_forbidden(response: Response, context: FaultContext) -> None:
    if response.status == 401 and context.call is not None and not lacks_token(context.call):
        response.status = 403


@admits(
    "accepts an expired token",
    breaks="AU-65",
    transports=GUARDED,
    scenario="authorization.expired-token",
    window=newest_of_each_kind,
)
def expiry_not_read(request: Request, context: FaultContext) -> bool:
    return is_expired(request)


@on_response("refuses insufficient scope with 401", breaks="AU-06", server=WITH_TOKENS)
def small_scope_unauthorized(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        response.status = 401


@on_call(
    "answers malformed credentials with 500",
    breaks="AU-06",
    server=WITH_TOKENS,
    transports=GUARDED,
    window=newest_of_each_kind,
)
def stumbles(request: Request, context: FaultContext) -> Response | None:
    words = (request.header("authorization") or "").split()
    return Response([], 500) if len(words) > 2 else None
