"""Several authorization servers: credentials of one are never sent to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario, in_force, official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.client_script import ClientScript, call_tool
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, REGISTER, TOKEN, altered, behaves, is_to, parameters
from .flow import AuthRequest, Flow, client_of
from .official_step import SHARED, observe_steps
from .protected_server import (
    CODE_FLOW_CHECKS,
    CODE_GRANT,
    LIST_AND_CALL,
    STEPS,
    TOOL,
    GuardedRequest,
    Protection,
    Rejection,
    protect,
)

# --- what is asked


@official_scenario(
    "auth/authorization-server-migration",
    "Move the resource to another authorization server",
    script=LIST_AND_CALL,
    exercises=(*CODE_FLOW_CHECKS, "auth.credentials-of-servers"),
    window=in_force("AU-48"),
)
async def drive_authorization_server_migration(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(scope="mcp:basic", open_handshake=True))
    first, second = protected.issuers[0], (await protected.add_authority("second")).issuer

    def guard(request: GuardedRequest) -> Rejection | None:
        if request.is_handshake:
            return None
        if request.claims is None or request.claims["iss"] not in protected.issuers:
            return protected.unauthorized()
        if request.claims["iss"] == first:
            protected.issuers = [second]
        return None

    protected.guard = guard


SETTINGS: Final = {"grants": ("authorization_code", "refresh_token")}


@client_scenario(
    "Move the resource to another authorization server and back",
    script=ClientScript(steps=(*STEPS, call_tool(TOOL)), oauth=CODE_GRANT),
    exercises=(*CODE_FLOW_CHECKS, "auth.credentials-of-servers", "auth.refresh-token"),
    transports=HTTP_ONLY,
    window=in_force("AU-47"),
)
async def drive_authorization_server_returns(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(settings=SETTINGS, open_handshake=True))
    first, second = protected.issuers[0], (await protected.add_authority("second")).issuer
    moves = iter((second, first))
    spent: set[str] = set()

    def guard(request: GuardedRequest) -> Rejection | None:
        if request.is_handshake:
            return None
        claims = request.claims
        if claims is None or claims["iss"] not in protected.issuers or request.token in spent:
            return protected.unauthorized()
        following = next(moves, None)
        if following is not None:
            spent.add(request.token)
            protected.issuers = [following]
        return None

    protected.guard = guard


# --- how it is judged


def _registered_ids(flow: Flow, server: str) -> set[str]:
    """The client ids that an authorization server issued."""
    return _issued(flow.registrations, server, "client_id")


def _issued(requests: Iterable[AuthRequest], server: str, *keys: str) -> set[str]:
    """The values of these keys in the successful answers of an authorization server."""
    answers = [
        request.answer for request in requests if request.server.name == server and request.call.status < 300
    ]
    values = (answer.get(key) for answer in answers for key in keys)
    return {value for value in values if isinstance(value, str) and value}


def _uses(flow: Flow, server: str) -> Iterator[AuthRequest]:
    """The requests at an authorization server that name the client."""
    requests = sorted((*flow.authorizations, *flow.token_requests), key=lambda request: request.n)
    return (request for request in requests if request.server.name == server)


def _others(flow: Flow, server: str) -> list[str]:
    return [other.name for other in flow.servers if other.name != server]


REGISTERS: Final = "sep-2352-reregister-on-as-change"
NEW_ID: Final = "sep-2352-no-reuse-on-as-change"
NO_LEAK: Final = "sep-2352-no-cross-as-credential-reuse"


@official_check(
    "auth/authorization-server-migration",
    "The client registers anew with another authorization server",
    requirements={
        REGISTERS: "The client did not register with the new authorization server",
        NEW_ID: "The client used its former client id at the new authorization server",
        NO_LEAK: "Credentials of the former authorization server were sent to the new one",
        **SHARED,
    },
)
def judge_authorization_server_migration(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    names = [server.name for server in flow.servers]
    own = _migration(flow, *names) if len(names) == 2 else ()
    expected = {REGISTERS: "a registration with the authorization server that the metadata names now"}
    yield from observe_steps(trace, own, expected=expected)


def _migration(flow: Flow, former: str, new: str) -> Iterator[Observation]:
    for request in flow.registrations:
        if request.server.name == new:
            yield observe(REGISTERS, True, request, expected="", observed="")
    known = _registered_ids(flow, former)
    for request in _uses(flow, new):
        name = client_of(request)
        expected = "another client_id than at the former authorization server"
        yield observe(NEW_ID, name not in known, request, expected=expected, observed=f"client_id {name}")
    keys = ("client_id", "client_secret", "access_token", "refresh_token")
    issued = _issued((*flow.registrations, *flow.token_requests), former, *keys)
    for call in flow.trace.calls:
        if issued and call.request.connection == new:
            leaked = any(value.encode() in call.request.raw for value in issued)
            expected = "no credentials of the former authorization server"
            yield observe(NO_LEAK, not leaked, call, expected=expected, observed="some in the request")


PORTABLE: Final = "https://"
"""The prefix of client ids that are metadata documents, which are valid at every authorization server."""


@check(
    "Credentials are used only at the server that issued them",
    requirements={
        "AU-27": "A token was sent to another authorization server",
        "AU-47": "The client did not keep its credentials for each authorization server",
        "AU-48": "A client id was used at another authorization server",
        "AU-49": "The client did not register with the new authorization server",
    },
)
def judge_credentials_of_servers(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for server in flow.servers:
        for request in _uses(flow, server.name):
            if _elsewhere(flow, request):
                yield from _judge_client_id(flow, request)
                yield from _judge_tokens(flow, request)


def _elsewhere(flow: Flow, request: AuthRequest) -> list[int]:
    """The client's earlier requests to other authorization servers."""
    others = _others(flow, request.server.name)
    return [past.n for other in others for past in _uses(flow, other) if past.n < request.n]


def _judge_client_id(flow: Flow, request: AuthRequest) -> Iterator[Observation]:
    name, server = client_of(request), request.server.name
    if not name or name.startswith(PORTABLE) or name == flow.context.get("client_id"):
        return
    own = _registered_ids(flow, server)
    foreign = {known for other in _others(flow, server) for known in _registered_ids(flow, other)} - own
    expected, observed = "credentials of this authorization server", f"client_id {name}"
    if foreign:
        holds = name not in foreign
        yield observe("AU-48", holds, request, expected=expected, observed=f"{observed} of another")
    if any(past.n < max(_elsewhere(flow, request)) for past in _uses(flow, server)):
        yield observe("AU-47", name in own, request, expected=expected, observed=observed)
    else:
        registrations = [
            past for past in flow.registrations if past.server.name == server and past.n < request.n
        ]
        expected = "a registration with the new authorization server before any other request"
        evidence, observed = (*registrations[-1:], request), f"none, and {observed}"
        yield observe("AU-49", bool(registrations), *evidence, expected=expected, observed=observed)


def _judge_tokens(flow: Flow, request: AuthRequest) -> Iterator[Observation]:
    requests = (*flow.registrations, *flow.token_requests)
    others = _others(flow, request.server.name)
    tokens = {
        token for other in others for token in _issued(requests, other, "access_token", "refresh_token")
    }
    if tokens:
        leaked = [key for key, value in request.params.items() if value in tokens]
        expected, observed = "no token of another authorization server", f"one in {', '.join(leaked)}"
        yield observe("AU-27", not leaked, request, expected=expected, observed=observed)


# --- what the checks must catch


MIGRATION: Final = "auth/authorization-server-migration"
RETURN: Final = "auth.authorization-server-returns"


@on_request("sends a token of one authorization server to another", breaks=NO_LEAK, scenario=MIGRATION)
def former_token_at_new_server(request: Request, client: ScriptedClient) -> Request | None:
    token = client.oauth.token
    if is_to(request, REGISTER) and token:
        request.set("Authorization", f"Bearer {token}")
    return request


@on_request("registers anew, but uses its former client id", breaks=NEW_ID, scenario=MIGRATION)
def former_id_at_new_server(request: Request, client: ScriptedClient) -> Request | None:
    return _with_first_id(request, client, AUTHORIZE)


@on_request("uses the client id of one server at another", breaks="AU-48", scenario=MIGRATION)
def id_of_another_server(request: Request, client: ScriptedClient) -> Request | None:
    return _with_first_id(request, client, TOKEN)


def _with_first_id(request: Request, client: ScriptedClient, path: str) -> Request:
    identities = [*client.oauth.identities.values()]
    return altered(request, path, client_id=identities[0].id) if len(identities) > 1 else request


@on_request("tries the refresh token of one server at another", breaks="AU-27", scenario=RETURN)
def one_refresh_token_for_all(request: Request, client: ScriptedClient) -> Request | None:
    tokens = [*client.oauth.refreshes.values()]
    if tokens and parameters(request).get("grant_type") == "authorization_code":
        return altered(request, TOKEN, grant_type="refresh_token", refresh_token=tokens[0])
    return request


@on_request("keeps only its newest client id, and uses it everywhere", breaks="AU-47", scenario=RETURN)
def newest_id_everywhere(request: Request, client: ScriptedClient) -> Request | None:
    identities = [*client.oauth.identities.values()]
    return altered(request, TOKEN, client_id=identities[-1].id) if identities else request


BEHAVIOURS: Final = (
    behaves(MIGRATION, "one-registration-for-all", "registers only once", REGISTERS, separates_issuers=False),
    behaves(MIGRATION, "registers-once", "registers only once", "AU-49", separates_issuers=False),
)
