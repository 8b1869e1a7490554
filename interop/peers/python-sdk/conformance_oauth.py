"""The SDK's OAuth providers with storage and a browser."""

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
# No server listens there: the browser reads the redirect and does not follow it.
CALLBACK = AnyUrl("http://localhost:3000/callback")
CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"


class Browser:
    """Opens the authorization endpoint and reads the redirect."""

    def __init__(self) -> None:
        self.answer: dict[str, str] = {}

    async def open(self, url: str) -> None:
        if not is_safe(url):
            raise OAuthFlowError(f"not opened, because it is not encrypted: {url.partition('?')[0]}")
        async with httpx2.AsyncClient(timeout=TIMEOUT, follow_redirects=False) as http:
            page = await http.get(url)
        if "location" not in page.headers:
            raise OAuthFlowError(f"the authorization endpoint answered {page.status_code} without a redirect")
        self.answer = dict(parse_qsl(urlsplit(page.headers["location"]).query))

    async def come_back(self) -> AuthorizationCodeResult:
        if "code" not in self.answer:
            raise OAuthFlowError(f"no code: {self.answer.get('error', 'and no error either')}")
        answer = self.answer
        return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))


def is_safe(url: str) -> bool:
    """The SDK leaves this decision to the application."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


async def provider(context: Context, url: str) -> httpx2.Auth | None:
    """The provider for the context's grant; None without one."""
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
    """The preregistered client."""
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
    client, issuer = context.value("client_id"), context.data.get("issuer")
    if "private_key_pem" not in context.data:
        secret = context.value("client_secret")
        return ClientCredentialsOAuthProvider(url, Storage(), client, secret, issuer=issuer)
    signing = SignedJWTParameters(
        issuer=client,
        subject=client,
        signing_key=context.value("private_key_pem"),
        signing_algorithm=context.data.get("signing_algorithm", "ES256"),
    )
    sign = signing.create_assertion_provider()
    return PrivateKeyJWTOAuthProvider(url, Storage(), client, sign, issuer=issuer)


async def identity_assertion(context: Context, url: str) -> IdentityAssertionOAuthProvider:
    """The SDK leaves fetching the assertion from the identity provider to the application."""

    async def fetch(audience: str, resource: str) -> str:
        form = {
            "grant_type": TOKEN_EXCHANGE,
            "requested_token_type": ID_JAG,
            "subject_token": context.value("idp_id_token"),
            "subject_token_type": ID_TOKEN,
            "client_id": context.value("idp_client_id"),
            "audience": audience,
            "resource": resource,
        }
        async with httpx2.AsyncClient(timeout=TIMEOUT) as http:
            answer = await http.post(context.value("idp_token_endpoint"), data=form)
        assertion: str = answer.raise_for_status().json()["access_token"]
        return assertion

    return IdentityAssertionOAuthProvider(
        url,
        Storage(),
        context.value("client_id"),
        context.value("client_secret"),
        issuer=context.data.get("issuer") or await advertised_issuer(url),
        assertion_provider=fetch,
        token_endpoint_auth_method="client_secret_basic",
    )


async def advertised_issuer(url: str) -> str:
    """The issuer from the resource metadata, because the suite names it only there."""
    async with httpx2.AsyncClient(timeout=TIMEOUT) as http:
        for place in build_protected_resource_metadata_discovery_urls(None, url):
            answer = await http.get(place)
            if answer.is_success:
                issuer: str = answer.json()["authorization_servers"][0]
                return issuer
    raise OAuthFlowError(f"{url} names no authorization server")
