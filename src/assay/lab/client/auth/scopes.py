"""The scopes that a client requests, and step-up authorization."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Final

from assay.lab.client.declaration import official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.check import Check
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, alters, behaves
from .flow import AuthRequest, Flow, before, content
from .official_step import AUTHORIZATION, SHARED, observe_steps
from .protected_server import (
    CODE_FLOW_CHECKS,
    MAY_FAIL,
    WITH_DISCOVERY,
    GuardedRequest,
    Protection,
    Rejection,
    protect,
    protected_scenario,
)

# --- what is asked


_scope_scenario = partial(protected_scenario, aliases=("auth/scope-handling",))
IN_METADATA, IN_CHALLENGE = "auth/scope-from-scopes-supported", "auth/scope-from-www-authenticate"
NOWHERE: Final = "auth/scope-omitted-when-undefined"
STEP_UP, RETRIES = "auth/scope-step-up", "auth/scope-retry-limit"
SCENARIOS: Final = (
    _scope_scenario(
        IN_METADATA, "Name scopes in the metadata", Protection(scopes=("mcp:basic", "mcp:read", "mcp:write"))
    ),
    _scope_scenario(IN_CHALLENGE, "Name a scope in the challenge", Protection(scope="mcp:basic")),
    _scope_scenario(NOWHERE, "Name no scope anywhere"),
    _scope_scenario(
        STEP_UP,
        "Require another scope for a tool call",
        Protection(
            scope="mcp:basic",
            scopes=("mcp:profile",),
            needed_scopes={"tools/call": "mcp:write"},
            open_handshake=True,
        ),
    ),
)
SCOPE: Final = "mcp:admin"
REJECTIONS: Final = 3
"""Requests that are rejected for insufficient scope; later ones get 410 Gone."""


@official_scenario(
    RETRIES,
    "Reject every token for insufficient scope",
    script=MAY_FAIL,
    exercises=CODE_FLOW_CHECKS,
    window=WITH_DISCOVERY,
    aliases=("auth/scope-handling",),
)
async def drive_scope_retry_limit(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(scope=SCOPE, scopes=(SCOPE,), open_handshake=True))
    rejections = count(1)

    def guard(request: GuardedRequest) -> Rejection | None:
        if request.is_handshake:
            return None
        if request.claims is None:
            return protected.unauthorized()
        return protected.insufficient(SCOPE) if next(rejections) <= REJECTIONS else Rejection(410)

    protected.guard = guard


# --- how it is judged


def _scope_check(
    name: str, title: str, fault: str, expected: str, holds: Callable[[AuthRequest], bool]
) -> Check:
    requirement = name.removeprefix("auth/")

    @official_check(name, title, requirements={requirement: fault, **SHARED})
    def judge(trace: Trace) -> Iterator[Observation]:
        own = [
            observe(requirement, holds(request), request, expected=expected, observed=_scope(request))
            for request in Flow(trace).authorizations
        ]
        yield from observe_steps(trace, own, steps=(AUTHORIZATION,), expected={requirement: expected})

    return judge


def _scope(request: AuthRequest) -> str:
    return f"scope {request.params.get('scope')!r}"


CHECKS: Final = (
    _scope_check(
        IN_METADATA,
        "All scopes in the metadata are requested",
        "An authorization request lacks a scope of the metadata",
        "the scopes mcp:basic, mcp:read and mcp:write of the metadata",
        lambda request: {"mcp:basic", "mcp:read", "mcp:write"} <= {*request.scopes},
    ),
    _scope_check(
        IN_CHALLENGE,
        "The scope in the challenge is requested",
        "An authorization request lacks the scope of the challenge",
        "a scope with mcp:basic, as in the challenge",
        lambda request: "mcp:basic" in request.scopes,
    ),
    _scope_check(
        NOWHERE,
        "No scope is requested where none is named",
        "An authorization request has a scope that nothing names",
        "no scope",
        lambda request: not request.scopes,
    ),
)
MOST_ATTEMPTS: Final = 3


@official_check(
    RETRIES,
    "The client limits its attempts to get a scope",
    requirements={"scope-retry-limit": "The client requested the same scope too often", **SHARED},
)
def judge_scope_retry_limit(trace: Trace) -> Iterator[Observation]:
    requests = Flow(trace).authorizations
    expected, observed = f"at most {MOST_ATTEMPTS} authorization requests", f"{len(requests)} requests"
    holds = len(requests) <= MOST_ATTEMPTS
    own = [observe("scope-retry-limit", holds, *requests, expected=expected, observed=observed)]
    yield from observe_steps(trace, own if requests else (), expected={"scope-retry-limit": expected})


INITIAL, ESCALATION = "scope-step-up-initial", "scope-step-up-escalation"
UNION: Final = "sep-2350-scope-union-on-reauth"
BASIC, WRITE = "mcp:basic", "mcp:write"


@official_check(
    STEP_UP,
    "A missing scope is requested, along with the earlier ones",
    requirements={
        INITIAL: "The first authorization request lacks the scope of the challenge",
        ESCALATION: "The second authorization request lacks the missing scope",
        UNION: "The second authorization request drops the earlier scope",
        **SHARED,
    },
)
def judge_scope_step_up(trace: Trace) -> Iterator[Observation]:
    expected = {
        INITIAL: f"an authorization request with the scope {BASIC}",
        ESCALATION: f"a second authorization request, with the scope {WRITE}",
        UNION: f"a second authorization request, with the scopes {BASIC} and {WRITE}",
    }
    yield from observe_steps(trace, _step_up(Flow(trace)), steps=(AUTHORIZATION,), expected=expected)


def _step_up(flow: Flow) -> Iterator[Observation]:
    yield from (_has_scope(INITIAL, BASIC, request) for request in flow.authorizations[:1])
    for call in [call for call in flow.endpoint_calls if call.status == 403][:1]:
        later = [request for request in flow.authorizations if request.n > call.request.n]
        for request in later[:1]:
            yield _has_scope(ESCALATION, WRITE, request)
            yield _has_scope(UNION, BASIC, request)
        # Requesting nothing is a failure; requesting the wrong scope is only a warning.
        expected = "another authorization request after a call was rejected"
        yield observe(AUTHORIZATION, bool(later), call, expected=expected, observed="no other request")


def _has_scope(requirement: str, scope: str, request: AuthRequest) -> Observation:
    holds, expected = scope in request.scopes, f"a scope with {scope}"
    return observe(requirement, holds, request, expected=expected, observed=_scope(request))


OPTIONAL: Final = frozenset({"openid", "offline_access"})
"""Scopes that a client may always request."""


@check(
    "Scopes come from the challenge, or else from the metadata",
    requirements={
        "AU-16": "The client left out a scope of the challenge that the metadata does not list",
        "AU-17": "An authorization request lacks a scope of the challenge",
        "AU-18": "The requested scopes are not those of the challenge or the metadata",
        "AU-19": "An authorization request drops scopes of an earlier one",
        "AU-74": "The client did not request a scope that was missing",
    },
    transports=HTTP_ONLY,
)
def judge_scopes(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for request in flow.authorizations:
        earlier = [challenge for call, challenge in flow.challenged if call.request.n < request.n]
        if earlier:
            yield from _judge_requested(flow, request, {*earlier[-1].scopes})
    yield from _judge_step_up(flow)


def _judge_requested(flow: Flow, request: AuthRequest, challenged: set[str]) -> Iterator[Observation]:
    requested, supported, observed = {*request.scopes}, _supported(flow, request), _scope(request)
    if challenged:
        holds, expected = challenged <= requested, f"all of {sorted(challenged)}, as in the challenge"
        yield observe("AU-17", holds, request, expected=expected, observed=observed)
        if supported and not challenged <= supported:
            yield observe("AU-16", holds, request, expected=expected, observed=observed)
    earlier = _earlier(flow, request)
    right = challenged or supported
    holds = right <= requested <= right | earlier | OPTIONAL
    yield observe("AU-18", holds, request, expected=f"the scopes {sorted(right)}", observed=observed)
    if earlier:
        expected = f"the earlier scopes {sorted(earlier)} as well"
        yield observe("AU-19", earlier <= requested, request, expected=expected, observed=observed)


def _supported(flow: Flow, request: AuthRequest) -> set[str]:
    """The scopes in the resource's metadata that the client had read."""
    read = [content(call) for call in before(flow.resource_documents, request.n) if call.status == 200]
    scopes = read[-1].get("scopes_supported") if read else None
    return {scope for scope in scopes if isinstance(scope, str)} if isinstance(scopes, list) else set()


def _earlier(flow: Flow, request: AuthRequest) -> set[str]:
    """The scopes that the client had requested from the same server."""
    earlier = [past for past in flow.authorizations if past.n < request.n and past.server == request.server]
    return {scope for past in earlier for scope in past.scopes}


def _judge_step_up(flow: Flow) -> Iterator[Observation]:
    for call, challenge in flow.challenged:
        missing = {*challenge.scopes}
        if call.status != 403 or challenge.params.get("error") != "insufficient_scope" or not missing:
            continue
        earlier = [request for request in flow.authorizations if request.n < call.request.n]
        if missing <= {scope for request in earlier for scope in request.scopes}:
            continue  # The same request again would not help.
        later = [request for request in flow.authorizations if request.n > call.request.n]
        holds = any(missing <= {*request.scopes} for request in later)
        expected = f"an authorization request with {sorted(missing)}"
        observed = _scope(later[0]) if later else "none"
        yield observe("AU-74", holds, call, *later[:1], expected=expected, observed=observed)


@check(
    "Attempts to get a scope are limited",
    requirements={"AU-75": "The client requested the same scope too often"},
    transports=HTTP_ONLY,
)
def judge_retries(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for call, challenge in flow.challenged:
        scopes = {*challenge.scopes}
        requests = [request for request in flow.authorizations if scopes and scopes <= {*request.scopes}]
        if call.status == 403 and requests and requests[0].n < call.request.n:
            holds, observed = len(requests) <= MOST_ATTEMPTS, f"{len(requests)} requests"
            expected = f"at most {MOST_ATTEMPTS} authorization requests for {' '.join(challenge.scopes)}"
            yield observe("AU-75", holds, *requests, expected=expected, observed=observed)
            return


# --- what the checks must catch


_requests = partial(alters, AUTHORIZE)
ALTERED: Final = (
    _requests(
        IN_METADATA,
        "one-supported-scope",
        "requests only the first scope of the metadata",
        "scope-from-scopes-supported",
        scope="mcp:basic",
    ),
    _requests(
        NOWHERE,
        "scope-of-its-own",
        "requests a scope that nothing names",
        "scope-omitted-when-undefined",
        scope="everything",
    ),
    _requests(
        STEP_UP, "same-scope-again", "requests the insufficient scope again", ESCALATION, scope="mcp:basic"
    ),
    _requests(IN_CHALLENGE, "challenge-scope-lost", "requests no scope", "AU-17", scope=None),
    _requests(
        IN_CHALLENGE, "more-scope-than-needed", "requests mcp:admin too", "AU-18", scope="mcp:basic mcp:admin"
    ),
)
NO_LIMIT: Final[Json] = {"tracks_scopes": False, "most_authorizations": 9}
BEHAVIOURS: Final = (
    behaves(
        IN_CHALLENGE,
        "challenge-scope-ignored",
        "ignores the scope of the challenge",
        "scope-from-www-authenticate",
        honours_scope=False,
    ),
    behaves(RETRIES, "never-gives-up", "does not limit its attempts", "scope-retry-limit", **NO_LIMIT),
    behaves(RETRIES, "retries-without-end", "does not limit its attempts", "AU-75", **NO_LIMIT),
    behaves(
        STEP_UP, "first-scope-ignored", "prefers the scopes of the metadata", INITIAL, honours_scope=False
    ),
    behaves(STEP_UP, "earlier-scope-dropped", "drops its earlier scope", UNION, keeps_scopes=False),
    behaves(STEP_UP, "scopes-replaced", "drops its earlier scope", "AU-19", keeps_scopes=False),
    behaves(
        STEP_UP, "only-supported-scopes", "requests only supported scopes", "AU-16", trusts_supported=True
    ),
    behaves(STEP_UP, "never-steps-up", "gives up when another scope is needed", "AU-74", steps_up=False),
)
