"""The well-known documents of a protected server: its own metadata, and those of its authorization server.

They are fetched without the user's headers. A server on the internet cannot make us fetch one from a private
network.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from assay.model.client_error import ClientError
from assay.protocol.oauth.network import allowed_from, zone_of_all
from assay.transport.client.http_probe import ProbeReply, probe
from assay.transport.client.url import Address, read_address

from .endpoint import challenge
from .step import Setup, Step, failed, passed, skipped, warned

RESOURCE: Final = "/.well-known/oauth-protected-resource"
SERVER: Final = "/.well-known/oauth-authorization-server"
OPENID: Final = "/.well-known/openid-configuration"
CHARACTERS: Final = 200


class Unusable(Exception):
    """A document cannot be fetched, or is not a JSON object."""


async def documents(address: Address, reply: ProbeReply, setup: Setup) -> AsyncIterator[Step]:
    """The protected-resource metadata, then the metadata of the first authorization server."""
    reader = _Reader(setup, address, reply.peer)
    candidates = _resource_candidates(address, challenge(reply).get("resource_metadata"))
    url, document, problem = await reader.first(candidates)
    if document is None:
        if reply.status != 401:
            yield skipped("metadata", "none, and the server wants no credentials")
        else:
            fix = f"serve it at {candidates[0]}, or clients cannot find out where to get a token"
            yield failed("metadata", f"no protected-resource metadata: {problem}", fix)
        return
    yield _judge_resource(address, url, document)
    issuers = document.get("authorization_servers")
    if isinstance(issuers, list) and issuers and isinstance(issuers[0], str):
        yield await _authorization_server(issuers[0], reader)


class _Reader:
    def __init__(self, setup: Setup, server: Address, peer: str) -> None:
        self._setup = setup
        self._server = server
        self._peer = peer

    async def first(self, urls: list[str]) -> tuple[str, dict[str, Any] | None, str]:
        """The first document that is there; or why there is none."""
        problem = ""
        for url in urls:
            try:
                return url, await self._read(url), ""
            except Unusable as error:
                problem = problem or f"{url[:CHARACTERS]}: {error}"
        return "", None, problem

    async def _read(self, url: str) -> dict[str, Any]:
        try:
            async with asyncio.timeout(self._setup.timeout):
                address, hosts = await self._look_up(url)
                lines, setup = "Accept: application/json\r\n", self._setup
                reply = await probe("GET", address, lines, b"", setup.tls, setup.limits, hosts)
        except TimeoutError:
            raise Unusable("no answer in time") from None
        except (ClientError, OSError, ValueError) as error:
            raise Unusable(str(error)) from None
        if reply.status != 200:
            raise Unusable(f"status {reply.status}")
        try:
            document = msgspec.json.decode(reply.body)
        except (msgspec.DecodeError, RecursionError):
            raise Unusable("not JSON") from None
        if not isinstance(document, dict):
            raise Unusable("not a JSON object")
        return document

    async def _look_up(self, url: str) -> tuple[Address, list[str]]:
        """The address of a document, and the IP addresses to use: another look-up could have another result.

        Raises:
            Unusable: a client must not fetch a document from there.
        """
        address = read_address(url)
        if address.scheme not in ("http", "https"):
            raise Unusable("not an http(s) URL")
        if address.origin == self._server.origin and self._peer:
            return address, [self._peer]
        entries = await asyncio.get_running_loop().getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM
        )
        hosts = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
        zone = zone_of_all(hosts)
        if zone not in allowed_from([self._peer]):
            raise Unusable(f"refused: it is in {zone.value}, and the server is not")
        return address, hosts


def _resource_candidates(address: Address, challenged: str | None) -> list[str]:
    parts = urlsplit(address.url)
    base = f"{parts.scheme}://{parts.netloc}"
    path = parts.path.rstrip("/")
    urls = [f"{base}{RESOURCE}{path}", f"{base}{RESOURCE}"]
    return list(dict.fromkeys([challenged, *urls] if challenged else urls))


def _judge_resource(address: Address, url: str, document: dict[str, Any]) -> Step:
    resource, issuers = document.get("resource"), document.get("authorization_servers")
    if not isinstance(resource, str) or not _covers(resource, address.url):
        fix = f"set `resource` to {address.url}, or clients must refuse the document"
        return failed("metadata", f"{url[:CHARACTERS]} is for {str(resource)[:CHARACTERS]}", fix)
    if not isinstance(issuers, list) or not issuers:
        fix = "add `authorization_servers` with the issuer of your tokens"
        return failed("metadata", f"{url[:CHARACTERS]} names no authorization server", fix)
    return passed("metadata", f"{url[:CHARACTERS]} names {', '.join(map(str, issuers[:3]))[:CHARACTERS]}")


def _covers(resource: str, url: str) -> bool:
    """Whether a resource is the endpoint, or the origin or path above it."""
    above, own = urlsplit(resource), urlsplit(url)
    if (above.scheme.lower(), above.netloc.lower()) != (own.scheme.lower(), own.netloc.lower()):
        return False
    path = above.path.rstrip("/")
    return own.path == path or own.path.startswith(f"{path}/") or not path


async def _authorization_server(issuer: str, reader: _Reader) -> Step:
    name = "authorization server"
    parts = urlsplit(issuer)
    base, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    candidates = [f"{base}{SERVER}{path}", f"{base}{OPENID}{path}", f"{base}{path}{OPENID}"]
    url, document, problem = await reader.first(list(dict.fromkeys(candidates)))
    if document is None:
        fix = "is the issuer right, running, and reachable from here?"
        return failed(name, f"{issuer[:CHARACTERS]} has no metadata: {problem}", fix)
    if document.get("issuer") != issuer:
        fix = "the issuer in both documents must be the same text, also its last slash"
        return failed(
            name,
            f"{url[:CHARACTERS]} is of {str(document.get('issuer'))[:CHARACTERS]}, not {issuer[:CHARACTERS]}",
            fix,
        )
    methods = document.get("code_challenge_methods_supported")
    if not isinstance(methods, list) or "S256" not in methods:
        fix = "switch on PKCE with S256: clients must refuse an authorization server without it"
        return warned(name, f"{url[:CHARACTERS]} does not announce PKCE", fix)
    can_register = "registration_endpoint" in document or document.get(
        "client_id_metadata_document_supported"
    )
    how = "clients can register" if can_register else "clients must be registered by hand"
    return passed(name, f"{url[:CHARACTERS]}; {how}")
