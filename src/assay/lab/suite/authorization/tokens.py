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
from assay.lab.harness.driver.try_open import ask_by_query, come_in, try_open
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
from assay.lab.harness.trace.admission import calls_with, in_query, is_let_in, is_opening, told
from assay.lab.harness.transport import GUARDED, HTTP_ONLY
from assay.lab.suite.protected_fault import (
    as_first,
    claims,
    first_claims,
    header,
    is_expired,
    lacks_token,
    remember_first,
)

# --- what is asked


SHOWN = (MALFORMED, GARBAGE, ALTERED, UNSIGNED, FORGED, OTHER_ISSUER)


@scenario(
    "Tokens that nobody issued",
    exercises=("authorization.bad-token", "authorization.malformed-token"),
    needs=(PROTECTED,),
    transports=GUARDED,
)
async def drive_bad_tokens(stage: Stage) -> None:
    await come_in(stage)
    for kind in SHOWN:
        if kind in stage.facts.bearers:
            await try_open(stage, kind)


@scenario(
    "A token that has expired",
    exercises=("authorization.bad-token",),
    needs=(PROTECTED, AN_EXPIRED_TOKEN),
    transports=GUARDED,
)
async def drive_expired_token(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, EXPIRED)


@scenario(
    "A token for another server",
    exercises=("authorization.foreign-token",),
    needs=(PROTECTED, A_FOREIGN_TOKEN),
    transports=GUARDED,
)
async def drive_foreign_token(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, FOREIGN)
    if OTHER_ISSUER in stage.facts.bearers:
        await try_open(stage, OTHER_ISSUER)


@scenario(
    "Without a token",
    exercises=("authorization.missing-token", "authorization.challenge"),
    needs=(PROTECTED,),
    transports=GUARDED,
)
async def drive_missing_token(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, NONE)


@scenario(
    "A token in the query", exercises=("authorization.query-token",), needs=(PROTECTED,), transports=HTTP_ONLY
)
async def drive_query_token(stage: Stage) -> None:
    await come_in(stage)
    await ask_by_query(stage)


# --- how it is judged


ROWS: Final = {FOREIGN: ("AU-64", "AU-66", "SEC-05"), OTHER_ISSUER: ("AU-66",)}


@check("A token for another server is refused", requirements=("AU-64", "AU-66", "SEC-05"), transports=GUARDED)
def judge_foreign_token(trace: Trace) -> Iterator[Observation]:
    for kind, call in calls_with(trace, *ROWS):
        for row in ROWS[kind]:
            seen = f"{told(call)} for a token that is {kind}"
            yield observe(row, not is_let_in(call), call, expected="a refusal", observed=seen)


@check("A request without a token gets 401", requirements=("AU-05",), transports=GUARDED)
def judge_missing_token(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if is_opening(call):
            yield observe("AU-05", call.status == 401, call, expected="status 401", observed=told(call))


@check("A token in the query is not taken", requirements=("AU-63",), transports=HTTP_ONLY)
def judge_query_token(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if in_query(call):
            yield observe("AU-63", not is_let_in(call), call, expected="a refusal", observed=told(call))


BAD: Final = (GARBAGE, ALTERED, UNSIGNED, FORGED, EXPIRED, OTHER_ISSUER)


@check("A bad token gets 401", requirements=("AU-05", "AU-63", "AU-65"), transports=GUARDED)
def judge_bad_token(trace: Trace) -> Iterator[Observation]:
    for kind, call in calls_with(trace, *BAD):
        seen = f"{told(call)} for a token that is {kind}"
        yield observe("AU-63", not is_let_in(call), call, expected="a refusal", observed=seen)
        for row in ("AU-05", "AU-65"):
            yield observe(row, call.status == 401, call, expected="status 401", observed=seen)


ALLOWED: Final = (400, 401)
"""Whether such credentials are malformed or none, the specification leaves open."""


@check("Malformed credentials get 400, or 401", requirements=("AU-06",), transports=GUARDED)
def judge_malformed_token(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, MALFORMED):
        right = call.status in ALLOWED
        yield observe("AU-06", right, call, expected="status 400 or 401", observed=told(call))


# --- what the checks must catch


@on_call("a token for another server is taken", breaks="AU-64", server=WITH_TOKENS, transports=GUARDED)
def audience_not_read(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("aud") != first_claims(context).get("aud"):
        as_first(request, context)


@on_call(
    "tokens that its issuer gave out for others are taken",
    breaks="AU-66",
    server=WITH_TOKENS,
    transports=GUARDED,
)
def any_token_of_issuer(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("aud") != first_claims(context).get("aud"):
        as_first(request, context)


@on_call(
    "tokens that were not issued for this server are taken",
    breaks="SEC-05",
    server=WITH_TOKENS,
    id="security.tokens-of-neighbours",
)
def tokens_of_neighbours(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("aud") != first_claims(context).get("aud"):
        as_first(request, context)


@on_response("a request without a token gets 403", breaks="AU-05", server=WITH_TOKENS)
def forbidden_without_token(response: Response, context: FaultContext) -> None:
    if response.status == 401:
        response.status = 403


@on_call("requests without a token are served", breaks="AU-05", server=WITH_TOKENS, transports=GUARDED)
def open_door(request: Request, context: FaultContext) -> None:
    if lacks_token(request):
        as_first(request, context)
    else:
        remember_first(request, context)


@on_call("a token under `alg: none` is taken", breaks="AU-63", server=WITH_TOKENS, window=newest_of_each_kind)
def algorithm_none(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if header(request).get("alg") == "none":
        as_first(request, context)


@on_call("the signature of a token is not verified", breaks="AU-63", server=WITH_TOKENS, transports=GUARDED)
def signature_not_read(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if claims(request).get("iss") == first_claims(context).get("iss") and not is_expired(request):
        as_first(request, context)


@on_call("a token in the query is taken", breaks="AU-63", server=WITH_TOKENS, window=newest_of_each_kind)
def token_in_query(request: Request, context: FaultContext) -> None:
    _, found, token = request.target.partition("access_token=")
    if found:
        request.target = request.target.partition("?")[0]
        request.set("Authorization", f"Bearer {token}")


@on_response("a bad token gets 403", breaks="AU-65", server=WITH_TOKENS)
def bad_token_forbidden(response: Response, context: FaultContext) -> None:
    if (
        response.status == 401
        and context.call is not None
        and context.call.header("authorization") is not None
    ):
        response.status = 403


@on_call(
    "an expired token is taken",
    breaks="AU-65",
    server=WITH_TOKENS,
    transports=GUARDED,
    scenario="authorization.expired-token",
    window=newest_of_each_kind,
)
def expiry_not_read(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if is_expired(request):
        as_first(request, context)


@on_response("too small a scope gets 401", breaks="AU-06", server=WITH_TOKENS)
def small_scope_unauthorized(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        response.status = 401


@on_call(
    "malformed credentials get 500",
    breaks="AU-06",
    server=WITH_TOKENS,
    transports=GUARDED,
    window=newest_of_each_kind,
)
def stumbles(request: Request, context: FaultContext) -> Response | None:
    words = (request.header("authorization") or "").split()
    return Response([], 500) if len(words) > 2 else None
