"""Discovery: metadata of the resource (RFC 9728), then of its authorization server (RFC 8414)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.trace.authorization import METADATA, WELL_KNOWN, Challenge

from .failure import StepFailed
from .web import WebClient

if TYPE_CHECKING:
    from .client import ScriptedClient

OAUTH: Final = "/.well-known/oauth-authorization-server"
OIDC: Final = "/.well-known/openid-configuration"
DEFAULTS: Final = {
    "authorization_endpoint": "/authorize",
    "token_endpoint": "/token",
    "registration_endpoint": "/register",
}


class ProtectedResource(Struct, frozen=True):
    """The resource that a token is for."""

    uri: str
    servers: tuple[str, ...]
    """Issuers."""
    scopes: tuple[str, ...] = ()
    has_metadata: bool = True
    """If False, the authorization server is assumed to be at the resource's origin."""


class AuthorizationServer(Struct, frozen=True):
    issuer: str
    metadata: Json
    has_metadata: bool = True
    """If False, the default endpoints are assumed."""

    def url(self, name: str) -> str:
        """
        Raises:
            StepFailed: the metadata has no such endpoint.
        """
        endpoint = self.metadata.get(name)
        if not isinstance(endpoint, str):
            raise StepFailed(f"the authorization server {self.issuer} has no {name}")
        return endpoint

    def listed(self, name: str) -> list[str]:
        """The strings of a list in the metadata."""
        values = self.metadata.get(name)
        return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


async def find_resource(client: ScriptedClient, challenge: Challenge) -> ProtectedResource:
    """
    Raises:
        StepFailed: the metadata is not where the challenge says, is for another resource, or names no server.
    """
    url, behaviour = client.setup.url, client.behaviour
    named = challenge.params.get(METADATA) if behaviour.honours_challenge else None
    document = (
        await _first(client, _resource_urls(client, named)) if behaviour.reads_resource_metadata else None
    )
    if document is None:
        if named is not None and behaviour.reads_resource_metadata:
            raise StepFailed(f"no metadata at {named}")
        return ProtectedResource(url, (origin_of(url),), has_metadata=False)
    uri, servers = document.get("resource"), document.get("authorization_servers")
    if behaviour.checks_resource and not (
        isinstance(uri, str) and _covers(uri, url, case_sensitive=behaviour.case_sensitive_host)
    ):
        raise StepFailed(f"the metadata is for {uri}, not for {url}")
    if not isinstance(servers, list) or not servers:
        raise StepFailed("the metadata names no authorization server")
    scopes = document.get("scopes_supported")
    known = tuple(map(str, scopes)) if isinstance(scopes, list) else ()
    return ProtectedResource(str(uri), tuple(map(str, servers)), known)


def _resource_urls(client: ScriptedClient, named: str | None) -> list[str]:
    if named is not None and not client.behaviour.asks_root_first:
        return [named]
    origin, path = origin_of(client.setup.url), urlsplit(client.setup.url).path.rstrip("/")
    urls = [f"{origin}{WELL_KNOWN}{path}", f"{origin}{WELL_KNOWN}"]
    return [*reversed(urls)] if client.behaviour.asks_root_first else urls


def _covers(uri: str, url: str, *, case_sensitive: bool) -> bool:
    """Whether a resource is the endpoint, or a path that contains it."""
    resource, endpoint = urlsplit(uri), urlsplit(url)
    same = resource.scheme == endpoint.scheme and resource.netloc.lower() == endpoint.netloc.lower()
    if case_sensitive and not uri.startswith(origin_of(url)):
        return False
    return same and f"{endpoint.path}/".startswith(f"{resource.path.rstrip('/')}/")


async def find_server(client: ScriptedClient, issuer: str, *, needed: bool) -> AuthorizationServer:
    """
    Raises:
        StepFailed: the metadata is missing although it is needed, or is invalid.
    """
    behaviour = client.behaviour
    document = await _first(client, _server_urls(client, issuer)) if behaviour.reads_server_metadata else None
    if document is None:
        if needed and behaviour.reads_server_metadata:
            raise StepFailed(f"the authorization server {issuer} has no metadata")
        base = origin_of(issuer)
        endpoints = {name: f"{base}{path}" for name, path in DEFAULTS.items()}
        return AuthorizationServer(issuer, endpoints, has_metadata=False)
    if behaviour.compares_issuer and document.get("issuer") != issuer:
        raise StepFailed(f"the metadata of {issuer} names the issuer {document.get('issuer')}")
    endpoint = str(document.get("authorization_endpoint", "https://none"))
    if behaviour.checks_addresses and not _is_safe(endpoint):
        raise StepFailed(f"the authorization endpoint is neither https nor local: {endpoint}")
    return AuthorizationServer(issuer, document)


def _server_urls(client: ScriptedClient, issuer: str) -> list[str]:
    """The possible URLs of an issuer's metadata, in the order to try them."""
    behaviour = client.behaviour
    origin = origin_of(issuer)
    path = "" if behaviour.drops_issuer_path else urlsplit(issuer).path.rstrip("/")
    oauth, openid = f"{origin}{OAUTH}{path}", [f"{origin}{OIDC}{path}", f"{origin}{path}{OIDC}"]
    if not behaviour.knows_openid:
        openid = []
    ordered = [*openid, oauth] if behaviour.openid_first else [oauth, *openid]
    return list(dict.fromkeys(ordered))


def _is_safe(url: str) -> bool:
    """Whether a browser may open the URL: other schemes could run code or leak the request."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and is_local(parts.netloc))


async def _first(client: ScriptedClient, urls: Iterable[str]) -> Json | None:
    """The first document that exists."""
    headers = [("Accept", "application/json"), ("MCP-Protocol-Version", client.revision.date)]
    for url in urls:
        response = await WebClient(client).fetch("GET", url, headers)
        if response.status == 200 and (document := read_json(response.body)):
            return document
    return None


def read_json(body: bytes) -> Json:
    """The JSON object, or an empty one if the body is anything else."""
    try:
        value: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
