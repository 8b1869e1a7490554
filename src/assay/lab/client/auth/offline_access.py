"""`offline_access` and refresh tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario, in_force
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, ENDPOINT, REGISTER, altered, alters, is_to
from .flow import AuthRequest, Flow
from .official_step import AUTHORIZATION, SHARED, observe_steps
from .protected_server import (
    CODE_FLOW_CHECKS,
    LIST_AND_CALL,
    WITH_DOCUMENTS,
    GuardedRequest,
    Protection,
    Rejection,
    protect,
    protected_scenario,
)

# --- what is asked


SCOPES: Final = ("mcp:basic", "mcp:read")


OFFLINE: Final = {"metadata": {"scopes_supported": ["mcp:basic", "offline_access"]}}
SUPPORTED, NOT_SUPPORTED = "auth/offline-access-scope", "auth/offline-access-not-supported"
SCENARIOS: Final = (
    protected_scenario(
        NOT_SUPPORTED,
        "Do not list `offline_access` among the supported scopes",
        Protection(settings={"metadata": {"scopes_supported": [*SCOPES]}}, scopes=SCOPES),
        window=in_force("sep-2207-offline-access-not-requested"),
    ),
    protected_scenario(
        SUPPORTED,
        "Support `offline_access`",
        Protection(settings={**WITH_DOCUMENTS, **OFFLINE}, scopes=("mcp:basic",)),
        window=in_force("sep-2207-offline-access-requested"),
    ),
)


@client_scenario(
    "Support `offline_access` for clients that register",
    script=LIST_AND_CALL,
    exercises=(SUPPORTED, *CODE_FLOW_CHECKS),
    transports=HTTP_ONLY,
    window=in_force("sep-2207-client-metadata-grant-types"),
)
async def drive_offline_access_registered(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=OFFLINE, scopes=("mcp:basic",)))


@client_scenario(
    "Issue a refresh token, and let the access token expire",
    script=LIST_AND_CALL,
    exercises=(*CODE_FLOW_CHECKS, "auth.refresh-token"),
    transports=HTTP_ONLY,
    window=in_force("AU-76"),
)
async def drive_refresh_token(stage: ClientStage) -> None:
    settings = {"grants": ("authorization_code", "refresh_token")}
    protected = await protect(stage, Protection(settings=settings))
    expired: list[str] = []

    def guard(request: GuardedRequest) -> Rejection | None:
        """The first token is valid until a tool is called."""
        if request.claims is None or request.token in expired:
            return protected.unauthorized()
        if request.method == "tools/call" and not expired:
            expired.append(request.token)
            return protected.unauthorized()
        return None

    protected.guard = guard


# --- how it is judged


NOT_REQUESTED: Final = "sep-2207-offline-access-not-requested"


@official_check(
    NOT_SUPPORTED,
    "`offline_access` is not requested where it is not supported",
    requirements={NOT_REQUESTED: "`offline_access` was requested, but is not supported", **SHARED},
)
def judge_offline_access_not_supported(trace: Trace) -> Iterator[Observation]:
    expected, own = "an authorization request without the scope offline_access", []
    for request in Flow(trace).authorizations:
        holds, observed = "offline_access" not in request.scopes, f"scope {request.params.get('scope')!r}"
        own.append(observe(NOT_REQUESTED, holds, request, expected=expected, observed=observed))
    yield from observe_steps(trace, own, expected={NOT_REQUESTED: expected})


GRANT_TYPES, REQUESTED = "sep-2207-client-metadata-grant-types", "sep-2207-offline-access-requested"


@official_check(
    SUPPORTED,
    "A client that requests `offline_access` registers for refresh tokens",
    requirements={
        GRANT_TYPES: "A registration does not include the grant type refresh_token",
        REQUESTED: "The client did not request authorization",
        **SHARED,
    },
)
def judge_offline_access_scope(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    # The scope is optional: a client that does not request it shows nothing.
    expected = {} if flow.authorizations else {REQUESTED: "an authorization request"}
    yield from observe_steps(trace, _offline_access(flow), steps=(AUTHORIZATION,), expected=expected)


def _offline_access(flow: Flow) -> Iterator[Observation]:
    for request in flow.registrations:
        grants = request.params.get("grant_types")
        holds = isinstance(grants, list) and "refresh_token" in grants
        expected = "grant_types with refresh_token"
        yield observe(GRANT_TYPES, holds, request, expected=expected, observed=f"{grants}")
    for request in flow.authorizations:
        if "offline_access" in request.scopes:
            yield observe(REQUESTED, True, request, expected="", observed="")


@check(
    "A refresh token is kept confidential",
    requirements={"AU-76": "A refresh token was sent elsewhere than to its token endpoint"},
)
def judge_refresh_token(trace: Trace) -> Iterator[Observation]:
    for request in Flow(trace).token_requests:
        token = request.answer.get("refresh_token")
        if request.call.status == 200 and isinstance(token, str) and token:
            later = [call for call in trace.calls if call.request.n > request.n]
            leaks = [call for call in later if _leaks(call, token, request)]
            if later:
                expected = (
                    "the refresh token only in the body of requests to the token endpoint that issued it"
                )
                observed = "".join(f"sent to {call.sent.target.partition('?')[0]}" for call in leaks[:1])
                yield observe("AU-76", not leaks, request, *leaks[:1], expected=expected, observed=observed)


def _leaks(call: Call, token: str, source: AuthRequest) -> bool:
    if token.encode() not in call.request.raw:
        return False
    head, _, _ = call.request.raw.partition(b"\r\n\r\n")
    same_server = call.request.connection == source.call.request.connection
    return not same_server or call.sent.method != "POST" or token.encode() in head


# --- what the checks must catch


@on_request(
    "registers without the grant type refresh_token",
    breaks=GRANT_TYPES,
    scenario=SUPPORTED,
    behaviour={"uses_document": False},
)
def never_offline(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, REGISTER, grant_types=["authorization_code"])


@on_request(
    "never requests authorization where refresh tokens are supported", breaks=REQUESTED, scenario=SUPPORTED
)
def gives_up_offline(request: Request, client: ScriptedClient) -> Request | None:
    return None if is_to(request, AUTHORIZE) else request


@on_request("sends its refresh token to the endpoint", breaks="AU-76", scenario="auth.refresh-token")
def refresh_token_shown(request: Request, client: ScriptedClient) -> Request | None:
    for token in client.oauth.refreshes.values():
        if is_to(request, ENDPOINT):
            request.set("X-Refresh-Token", token)
    return request


ALWAYS: Final = alters(
    AUTHORIZE,
    NOT_SUPPORTED,
    "always-offline",
    "always requests `offline_access`",
    NOT_REQUESTED,
    scope="mcp:basic mcp:read offline_access",
)
