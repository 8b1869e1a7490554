"""How a client authenticates at the token endpoint."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator

from assay.lab.client.declaration import official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage

from .altered_request import AUTHORIZE, ENDPOINT, TOKEN, altered, goes_to
from .credential import BASIC, NONE, POST, ROWS, authenticated
from .protected_server import BY_CODE, LIST_AND_CALL, RESOURCES, Protection, protect

# --- what is asked


@official_scenario(
    "auth/token-endpoint-auth-basic",
    "The token endpoint takes client_secret_basic",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=RESOURCES,
)
async def drive_token_endpoint_auth_basic(stage: ClientStage) -> None:
    await protect(stage, Protection(settings={"methods": ("client_secret_basic",)}))


@official_scenario(
    "auth/token-endpoint-auth-none",
    "The token endpoint takes public clients",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=RESOURCES,
)
async def drive_token_endpoint_auth_none(stage: ClientStage) -> None:
    await protect(stage)


@official_scenario(
    "auth/token-endpoint-auth-post",
    "The token endpoint takes client_secret_post",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=RESOURCES,
)
async def drive_token_endpoint_auth_post(stage: ClientStage) -> None:
    await protect(stage, Protection(settings={"methods": ("client_secret_post",)}))


# --- how it is judged


@official_check(
    "auth/token-endpoint-auth-basic", "The method of the token endpoint is used", requirements=ROWS
)
def judge_token_endpoint_auth_basic(trace: Trace) -> Iterator[Observation]:
    yield from authenticated(trace, BASIC)


@official_check(
    "auth/token-endpoint-auth-none", "The method of the token endpoint is used", requirements=ROWS
)
def judge_token_endpoint_auth_none(trace: Trace) -> Iterator[Observation]:
    yield from authenticated(trace, NONE)


@official_check(
    "auth/token-endpoint-auth-post", "The method of the token endpoint is used", requirements=ROWS
)
def judge_token_endpoint_auth_post(trace: Trace) -> Iterator[Observation]:
    yield from authenticated(trace, POST)


# --- what the checks must catch


@on_request(
    "it puts its secret into the form where the header is wanted",
    breaks="token-endpoint-auth-method",
    scenario="auth/token-endpoint-auth-basic",
)
def secret_in_form(request: Request, client: ScriptedClient) -> Request | None:
    header = request.header("authorization") or ""
    if not goes_to(request, TOKEN) or not header.startswith("Basic "):
        return request
    name, _, secret = b64decode(header.removeprefix("Basic ")).decode().partition(":")
    request.set("Authorization", None)
    return altered(request, TOKEN, client_id=name, client_secret=secret)


@on_request(
    "the token request names another resource",
    breaks="resource-parameter-consistency",
    scenario="auth/token-endpoint-auth-none",
)
def token_for_another(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, resource=f"{client.setup.url}/other")


@on_request(
    "the authorization request names no resource",
    breaks="resource-parameter-in-authorization",
    scenario="auth/token-endpoint-auth-none",
)
def authorized_for_anything(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, resource=None)


@on_request(
    "the token request names no resource",
    breaks="resource-parameter-in-token",
    scenario="auth/token-endpoint-auth-none",
)
def token_for_anything(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, resource=None)


@on_request(
    "the resource is named by its origin alone",
    breaks="resource-parameter-matches-prm",
    scenario="auth/token-endpoint-auth-none",
)
def resource_by_origin(request: Request, client: ScriptedClient) -> Request | None:
    origin = client.setup.url.removesuffix(ENDPOINT)
    return altered(altered(request, AUTHORIZE, resource=origin), TOKEN, resource=origin)


@on_request(
    "the resource is named with a fragment",
    breaks="resource-parameter-valid-uri",
    scenario="auth/token-endpoint-auth-none",
)
def resource_with_fragment(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, resource=f"{client.setup.url}#part")


@on_request("it never exchanges its code", breaks="token-request", scenario="auth/metadata-default")
def never_exchanges(request: Request, client: ScriptedClient) -> Request | None:
    return None if goes_to(request, TOKEN) else request
