"""How the client finds whom to ask for a token: the metadata of the resource, then that of the server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.trace.challenge import METADATA, Challenge
from assay.lab.harness.trace.resource_metadata import WELL_KNOWN

from .failure import Failed
from .web import Web

if TYPE_CHECKING:
    from .client import ScriptedClient

OAUTH: Final = "/.well-known/oauth-authorization-server"
OIDC: Final = "/.well-known/openid-configuration"
DEFAULTS: Final = {
    "authorization_endpoint": "/authorize",
    "token_endpoint": "/token",
    "registration_endpoint": "/register",
}


class Resource(Struct, frozen=True):
    """What a token is to be for."""

    uri: str
    servers: tuple[str, ...]
    """Issuers."""
    scopes: tuple[str, ...] = ()
    found: bool = True
    """Whether it has metadata; otherwise the server is taken to be on its own origin."""


class Server(Struct, frozen=True):
    """An authorization server."""

    issuer: str
    metadata: Json
    found: bool = True
    """Whether it has metadata; otherwise its endpoints are where all once were."""

    def url(self, name: str) -> str:
        """
        Raises:
            Failed: it has no such endpoint.
        """
        found = self.metadata.get(name)
        if not isinstance(found, str):
            raise Failed(f"the authorization server {self.issuer} has no {name}")
        return found

    def says(self, name: str) -> list[str]:
        found = self.metadata.get(name)
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


async def find_resource(client: ScriptedClient, challenge: Challenge) -> Resource:
    """
    Raises:
        Failed: it has metadata that is about something else, or names no server.
    """
    url, behaviour = client.invitation.url, client.behaviour
    named = challenge.params.get(METADATA) if behaviour.honours_challenge else None
    document = (
        await _first(client, resource_places(client, named)) if behaviour.reads_resource_metadata else None
    )
    if document is None:
        if named is not None and behaviour.reads_resource_metadata:
            raise Failed(f"there is no metadata at {named}")
        return Resource(url, (origin_of(url),), found=False)
    uri, servers = document.get("resource"), document.get("authorization_servers")
    if behaviour.checks_resource and not (
        isinstance(uri, str) and covers(uri, url, behaviour.minds_capitals)
    ):
        raise Failed(f"the metadata is about {uri}, not about {url}")
    if not isinstance(servers, list) or not servers:
        raise Failed("the metadata names no authorization server")
    scopes = document.get("scopes_supported")
    known = tuple(str(one) for one in scopes) if isinstance(scopes, list) else ()
    return Resource(str(uri), tuple(str(one) for one in servers), known)


def resource_places(client: ScriptedClient, named: str | None) -> list[str]:
    if named is not None and not client.behaviour.asks_root_first:
        return [named]
    origin, path = origin_of(client.invitation.url), urlsplit(client.invitation.url).path.rstrip("/")
    places = [f"{origin}{WELL_KNOWN}{path}", f"{origin}{WELL_KNOWN}"]
    return [*reversed(places)] if client.behaviour.asks_root_first else places


def covers(uri: str, url: str, capitals: bool) -> bool:
    """Whether a resource is the endpoint, or all below a path that it is in."""
    one, other = urlsplit(uri), urlsplit(url)
    same = one.scheme == other.scheme and one.netloc.lower() == other.netloc.lower()
    if capitals and not uri.startswith(origin_of(url)):
        return False
    return same and f"{other.path}/".startswith(f"{one.path.rstrip('/')}/")


async def find_server(client: ScriptedClient, issuer: str, *, needed: bool) -> Server:
    """
    Raises:
        Failed: its metadata is missing though it is needed, or is none to believe in.
    """
    behaviour = client.behaviour
    document = (
        await _first(client, server_places(client, issuer)) if behaviour.reads_server_metadata else None
    )
    if document is None:
        if needed and behaviour.reads_server_metadata:
            raise Failed(f"the authorization server {issuer} has no metadata")
        base = origin_of(issuer)
        return Server(issuer, {name: f"{base}{place}" for name, place in DEFAULTS.items()}, found=False)
    if behaviour.compares_issuer and document.get("issuer") != issuer:
        raise Failed(f"the metadata of {issuer} is of {document.get('issuer')}")
    server = Server(issuer, document)
    if behaviour.checks_addresses and not is_safe(
        str(document.get("authorization_endpoint", "https://none"))
    ):
        raise Failed(f"no address to open: {document['authorization_endpoint']}")
    return server


def server_places(client: ScriptedClient, issuer: str) -> list[str]:
    """Where the metadata of an issuer can be, in the order in which they are tried."""
    behaviour = client.behaviour
    origin = origin_of(issuer)
    path = "" if behaviour.drops_issuer_path else urlsplit(issuer).path.rstrip("/")
    oauth, openid = f"{origin}{OAUTH}{path}", [f"{origin}{OIDC}{path}", f"{origin}{path}{OIDC}"]
    if not behaviour.knows_openid:
        openid = []
    ordered = [*openid, oauth] if behaviour.openid_first else [oauth, *openid]
    return list(dict.fromkeys(ordered))


def is_safe(url: str) -> bool:
    """Whether an address may be opened in a browser: https, or http on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and is_local(parts.netloc))


async def _first(client: ScriptedClient, places: Iterable[str]) -> Json | None:
    """The first document that is there."""
    headers = [("Accept", "application/json"), ("MCP-Protocol-Version", client.revision.date)]
    for place in places:
        response = await Web(client).fetch("GET", place, headers)
        if response.status == 200 and (found := read_json(response.body)):
            return found
    return None


def read_json(body: bytes) -> Json:
    """Empty where it is no JSON object."""
    try:
        found: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
