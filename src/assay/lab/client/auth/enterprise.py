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
from .credential import credentials
from .flow import Journey, Stop, content, form_of, path_in, path_of
from .official_step import SHARED, walked
from .protected_server import FOUND, TWO, Protection, protect

ROOM: Final = "provider"
USER: Final = "demo-user@example.com"
CLIENT, CLIENT_ELSEWHERE = "conformance-test-idp-client", "conformance-test-xaa-client"
"""The client's ids at the provider and at the authorization server."""


async def open_provider(stage: ClientStage) -> Authority:
    """Is found at its own address, and named in the context; nothing else tells of it."""
    apps: list[AuthorityApp] = []

    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await serve_asgi(apps[0], request, reply)

    known = Client(id=CLIENT, grants=(TOKEN_EXCHANGE,), id_elsewhere=CLIENT_ELSEWHERE)
    settings = Settings(
        issuer=await stage.add_server(ROOM, serve),
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
        "idp_client_id": CLIENT,
        "idp_id_token": provider.identify(USER, CLIENT),
        "idp_issuer": provider.issuer,
        "idp_token_endpoint": settings.url("/token"),
    }
    return provider


# --- what is asked


SECRET: Final = "conformance-test-xaa-secret"
METHOD: Final = "client_secret_basic"
ASSERTION: Final = "oauth-id-jag+jwt"
KNOWN: Final = Client(id=CLIENT_ELSEWHERE, secret=digest(SECRET), methods=(METHOD,), grants=(JWT_BEARER,))


@official_scenario(
    "auth/enterprise-managed-authorization",
    "A user who is signed in elsewhere",
    script=ClientScript(steps=TWO, oauth={"grant": "token_exchange"}),
    window=FOUND,
)
async def drive_enterprise_managed_authorization(stage: ClientStage) -> None:
    provider = await open_provider(stage)
    settings = {
        "grants": (JWT_BEARER,),
        "methods": (METHOD,),
        "resources": (stage.url,),
        "trusted": (Trusted(issuer=provider.issuer, jwks=provider.jwks(), type=ASSERTION),),
        "clients": (KNOWN,),
        "metadata": {"grant_types_supported": [JWT_BEARER]},
    }
    await protect(stage, Protection(settings=settings))
    stage.context |= {"client_id": CLIENT_ELSEWHERE, "client_secret": SECRET}


# --- how it is judged


EXCHANGED, BORNE = "complete-flow-token-exchange", "complete-flow-jwt-bearer"
OWED: Final = {
    EXCHANGED: "the ID token exchanged at the identity provider",
    BORNE: "the grant exchanged at the authorization server",
}


@official_check(
    "auth/enterprise-managed-authorization",
    "A user who is signed in elsewhere",
    requirements=(EXCHANGED, BORNE, *SHARED),
)
def judge_enterprise_managed_authorization(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    endpoint = path_of(str(journey.context.get("idp_token_endpoint") or ""))
    asked = [one for one in trace.calls if one.request.connection == ROOM and path_in(one) == endpoint]
    yield from walked(trace, [*_exchanged(journey, asked), *_borne(journey, asked)], wanted=OWED)


def _exchanged(journey: Journey, asked: list[Call]) -> Iterator[Observation]:
    wanted = {
        "grant_type": TOKEN_EXCHANGE,
        "requested_token_type": ID_JAG,
        "subject_token": journey.context.get("idp_id_token"),
        "subject_token_type": ID_TOKEN,
        "audience": next((spot.issuer for spot in journey.spots), None),
        "resource": next((spot.resource for spot in journey.spots), None),
    }
    for call in asked:
        said = form_of(call)
        wrong = [f"{key} {said.get(key)!r}" for key, value in wanted.items() if said.get(key) != value]
        if call.status != 200:
            wrong.append(f"refused: {content(call).get('error_description', call.status)}")
        expected = "the ID token, for a grant at the authorization server and for the resource"
        yield observe(EXCHANGED, not wrong, call, expected=expected, observed=", ".join(wrong))


def _borne(journey: Journey, asked: list[Call]) -> Iterator[Observation]:
    grants = [told for call in asked if (told := content(call).get("access_token"))]
    for stop in journey.exchanges:
        wrong = list(_wrong(journey, stop, grants))
        expected = "the grant of the identity provider, and the client's credentials by Basic"
        yield observe(BORNE, not wrong, stop, expected=expected, observed=", ".join(wrong))


def _wrong(journey: Journey, stop: Stop, grants: list[object]) -> Iterator[str]:
    if stop.said.get("grant_type") != JWT_BEARER:
        yield f"grant_type {stop.said.get('grant_type')!r}"
    if stop.said.get("assertion") not in grants:
        yield "an assertion that the identity provider did not give out"
    if credentials(stop) != tuple(journey.context.get(key) for key in ("client_id", "client_secret")):
        yield "other credentials"
    if stop.call.status != 200:
        yield f"refused: {stop.told.get('error_description', stop.call.status)}"


# --- what the checks must catch


@on_request(
    "it sends the ID token in place of the grant",
    breaks="complete-flow-jwt-bearer",
    scenario="auth/enterprise-managed-authorization",
)
def id_token_as_grant(request: Request, client: ScriptedClient) -> Request | None:
    if "assertion" in parameters(request):
        return altered(request, TOKEN, assertion=client.context["idp_id_token"])
    return request


@on_request(
    "it asks the identity provider for a grant at the resource, not at its authorization server",
    breaks="complete-flow-token-exchange",
    scenario="auth/enterprise-managed-authorization",
)
def grant_for_resource(request: Request, client: ScriptedClient) -> Request | None:
    if "audience" in parameters(request):
        return altered(request, TOKEN, audience=client.setup.url)
    return request
