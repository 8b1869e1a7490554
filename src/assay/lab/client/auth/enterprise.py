"""Enterprise-managed authorization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.authority.app import AuthorityApp
from assay.authority.authority import Authority
from assay.authority.federation import ID_JAG, ID_TOKEN
from assay.authority.record import JWT_BEARER, TOKEN_EXCHANGE, Client, digest
from assay.authority.settings import Settings, Trusted
from assay.lab.client.declaration import official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.client_script import ClientScript
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.side_server import serve_asgi
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call

from .altered_request import TOKEN, altered, parameters
from .flow import AuthRequest, Flow, content, credentials, form_of, path_in, path_of
from .official_step import SHARED, observe_steps
from .protected_server import STEPS, WITH_DISCOVERY, Protection, protect

# --- what is asked


PROVIDER: Final = "provider"
"""The name of the identity provider's HTTP server in traces."""
USER: Final = "demo-user@example.com"
CLIENT_AT_PROVIDER, CLIENT = "conformance-test-idp-client", "conformance-test-xaa-client"
"""The client's ids at the identity provider and at the authorization server."""
SECRET: Final = "conformance-test-xaa-secret"
METHOD: Final = "client_secret_basic"
ASSERTION: Final = "oauth-id-jag+jwt"
KNOWN: Final = Client(id=CLIENT, secret=digest(SECRET), methods=(METHOD,), grants=(JWT_BEARER,))


@official_scenario(
    "auth/enterprise-managed-authorization",
    "Get a token for a user who is signed in at an identity provider",
    script=ClientScript(steps=STEPS, oauth={"grant": "token_exchange"}),
    window=WITH_DISCOVERY,
)
async def drive_enterprise_managed_authorization(stage: ClientStage) -> None:
    provider = await _start_provider(stage)
    settings = {
        "grants": (JWT_BEARER,),
        "methods": (METHOD,),
        "resources": (stage.url,),
        "trusted": (Trusted(issuer=provider.issuer, jwks=provider.jwks(), type=ASSERTION),),
        "clients": (KNOWN,),
        "metadata": {"grant_types_supported": [JWT_BEARER]},
    }
    await protect(stage, Protection(settings=settings))
    stage.context |= {"client_id": CLIENT, "client_secret": SECRET}


async def _start_provider(stage: ClientStage) -> Authority:
    """Start the identity provider, which only the client's context names."""
    apps: list[AuthorityApp] = []

    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await serve_asgi(apps[0], request, reply)

    known = Client(id=CLIENT_AT_PROVIDER, grants=(TOKEN_EXCHANGE,), id_elsewhere=CLIENT)
    settings = Settings(
        issuer=await stage.add_server(PROVIDER, serve),
        grants=(TOKEN_EXCHANGE,),
        registration=False,
        documents=False,
        clients=(known,),
        metadata={"grant_types_supported": [TOKEN_EXCHANGE]},
        faults=("metadata-404-oauth",),
    )
    provider = Authority(settings)
    apps.append(AuthorityApp(provider))
    stage.context |= {
        "idp_client_id": CLIENT_AT_PROVIDER,
        "idp_id_token": provider.identify(USER, CLIENT_AT_PROVIDER),
        "idp_issuer": provider.issuer,
        "idp_token_endpoint": settings.url("/token"),
    }
    return provider


# --- how it is judged


EXCHANGED, REDEEMED = "complete-flow-token-exchange", "complete-flow-jwt-bearer"


@official_check(
    "auth/enterprise-managed-authorization",
    "The client exchanges an ID token for a grant, and the grant for a token",
    requirements={
        EXCHANGED: "The ID token was not exchanged correctly at the identity provider",
        REDEEMED: "The grant was not exchanged correctly at the authorization server",
        **SHARED,
    },
)
def judge_enterprise_managed_authorization(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    endpoint = path_of(str(flow.context.get("idp_token_endpoint") or ""))
    calls = [
        call for call in trace.calls if call.request.connection == PROVIDER and path_in(call) == endpoint
    ]
    expected = {
        EXCHANGED: "the ID token exchanged at the identity provider",
        REDEEMED: "the grant exchanged at the authorization server",
    }
    own = [*_id_token_exchanges(flow, calls), *_grant_exchanges(flow, calls)]
    yield from observe_steps(trace, own, expected=expected)


def _id_token_exchanges(flow: Flow, calls: list[Call]) -> Iterator[Observation]:
    required = {
        "grant_type": TOKEN_EXCHANGE,
        "requested_token_type": ID_JAG,
        "subject_token": flow.context.get("idp_id_token"),
        "subject_token_type": ID_TOKEN,
        "audience": next((server.issuer for server in flow.servers), None),
        "resource": next((server.resource for server in flow.servers), None),
    }
    for call in calls:
        form = form_of(call)
        problems = [f"{key} {form.get(key)!r}" for key, value in required.items() if form.get(key) != value]
        if call.status != 200:
            problems.append(f"rejected: {content(call).get('error_description', call.status)}")
        expected = "the ID token exchanged for a grant for the authorization server and the resource"
        yield observe(EXCHANGED, not problems, call, expected=expected, observed=", ".join(problems))


def _grant_exchanges(flow: Flow, calls: list[Call]) -> Iterator[Observation]:
    grants = [token for call in calls if (token := content(call).get("access_token"))]
    for request in flow.token_requests:
        problems = list(_grant_problems(flow, request, grants))
        expected = "the grant of the identity provider, and the client's credentials by HTTP Basic"
        yield observe(REDEEMED, not problems, request, expected=expected, observed=", ".join(problems))


def _grant_problems(flow: Flow, request: AuthRequest, grants: list[object]) -> Iterator[str]:
    if request.params.get("grant_type") != JWT_BEARER:
        yield f"grant_type {request.params.get('grant_type')!r}"
    if request.params.get("assertion") not in grants:
        yield "an assertion that the identity provider did not issue"
    if credentials(request) != tuple(flow.context.get(key) for key in ("client_id", "client_secret")):
        yield "other credentials"
    if request.call.status != 200:
        yield f"rejected: {request.answer.get('error_description', request.call.status)}"


# --- what the checks must catch


@on_request(
    "sends the ID token instead of the grant",
    breaks=REDEEMED,
    scenario="auth/enterprise-managed-authorization",
)
def id_token_as_grant(request: Request, client: ScriptedClient) -> Request | None:
    if "assertion" in parameters(request):
        return altered(request, TOKEN, assertion=client.context["idp_id_token"])
    return request


@on_request(
    "requests a grant for the resource instead of its authorization server",
    breaks=EXCHANGED,
    scenario="auth/enterprise-managed-authorization",
)
def grant_for_resource(request: Request, client: ScriptedClient) -> Request | None:
    if "audience" in parameters(request):
        return altered(request, TOKEN, audience=client.setup.url)
    return request
