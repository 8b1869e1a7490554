"""The SDK's OAuth providers, with what an application adds: a place for tokens, and a browser."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from conformance_context import Context, NoApi
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata
from pydantic import AnyUrl
from storage import Storage

TIMEOUT = httpx2.Timeout(10.0)
# Nobody listens there: the browser reads where it is sent, and does not go.
CALLBACK = AnyUrl("http://localhost:3000/callback")
CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"


class Browser:
    """Opens the address of the authorization server and reads where it is sent."""

    def __init__(self) -> None:
        self.answer: dict[str, str] = {}

    async def open(self, url: str) -> None:
        if not is_safe(url):
            raise OAuthFlowError(f"not opened, since anybody might read along: {url.partition('?')[0]}")
        async with httpx2.AsyncClient(timeout=TIMEOUT, follow_redirects=False) as http:
            page = await http.get(url)
        if "location" not in page.headers:
            raise OAuthFlowError(f"the authorization endpoint answered {page.status_code} and sent nowhere")
        self.answer = dict(parse_qsl(urlsplit(page.headers["location"]).query))

    async def come_back(self) -> AuthorizationCodeResult:
        if "code" not in self.answer:
            raise OAuthFlowError(f"no code: {self.answer.get('error', 'and no error either')}")
        told = self.answer
        return AuthorizationCodeResult(code=told["code"], state=told.get("state"), iss=told.get("iss"))


def is_safe(url: str) -> bool:
    """The SDK leaves it to the application which addresses it opens."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


async def provider(context: Context, url: str) -> httpx2.Auth | None:
    """The provider of the grant that the context names; None if it names none."""
    if context.oauth is None:
        return None
    if context.oauth.get("dpop"):
        raise NoApi("DPoP proofs")
    match context.oauth["grant"]:
        case "authorization_code":
            return authorization_code(context, url)
        case "client_credentials":
            return client_credentials(context, url)
        case "token_exchange":
            return await identity_assertion(context, url)
        case "jwt_bearer":
            raise NoApi("jwt-bearer grant for a client without a secret (workload identity federation)")
        case other:
            raise NoApi(f"OAuth grant {other!r}")


def authorization_code(context: Context, url: str) -> OAuthClientProvider:
    browser = Browser()
    return OAuthClientProvider(
        url,
        OAuthClientMetadata(redirect_uris=[CALLBACK], client_name="conformance"),
        Storage(client=registered(context.data)),
        redirect_handler=browser.open,
        callback_handler=browser.come_back,
        client_metadata_url=CLIENT_DOCUMENT,
    )


def registered(data: dict[str, Any]) -> OAuthClientInformationFull | None:
    """The client as somebody registered it beforehand."""
    if "client_id" not in data:
        return None
    secret = data.get("client_secret")
    method = data.get("token_endpoint_auth_method", "client_secret_basic" if secret else "none")
    return OAuthClientInformationFull(
        client_id=data["client_id"],
        client_secret=secret,
        token_endpoint_auth_method=method,
        redirect_uris=[CALLBACK],
    )


def client_credentials(context: Context, url: str) -> OAuthClientProvider:
    client, issuer = context.given("client_id"), context.data.get("issuer")
    if "private_key_pem" not in context.data:
        secret = context.given("client_secret")
        return ClientCredentialsOAuthProvider(url, Storage(), client, secret, issuer=issuer)
    signing = SignedJWTParameters(
        issuer=client,
        subject=client,
        signing_key=context.given("private_key_pem"),
        signing_algorithm=context.data.get("signing_algorithm", "ES256"),
    )
    sign = signing.create_assertion_provider()
    return PrivateKeyJWTOAuthProvider(url, Storage(), client, sign, issuer=issuer)


async def identity_assertion(context: Context, url: str) -> IdentityAssertionOAuthProvider:
    """The SDK leaves it to the application to fetch the assertion from its identity provider."""

    async def fetch(audience: str, resource: str) -> str:
        form = {
            "grant_type": TOKEN_EXCHANGE,
            "requested_token_type": ID_JAG,
            "subject_token": context.given("idp_id_token"),
            "subject_token_type": ID_TOKEN,
            "client_id": context.given("idp_client_id"),
            "audience": audience,
            "resource": resource,
        }
        async with httpx2.AsyncClient(timeout=TIMEOUT) as http:
            answer = await http.post(context.given("idp_token_endpoint"), data=form)
        assertion: str = answer.raise_for_status().json()["access_token"]
        return assertion

    return IdentityAssertionOAuthProvider(
        url,
        Storage(),
        context.given("client_id"),
        context.given("client_secret"),
        issuer=context.data.get("issuer") or await advertised_issuer(url),
        assertion_provider=fetch,
        token_endpoint_auth_method="client_secret_basic",
    )


async def advertised_issuer(url: str) -> str:
    """An application would be configured with its issuer; the suite names it in the resource only."""
    async with httpx2.AsyncClient(timeout=TIMEOUT) as http:
        for place in build_protected_resource_metadata_discovery_urls(None, url):
            answer = await http.get(place)
            if answer.is_success:
                issuer: str = answer.json()["authorization_servers"][0]
                return issuer
    raise OAuthFlowError(f"{url} names no authorization server")
