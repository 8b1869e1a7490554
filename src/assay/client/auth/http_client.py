"""Sends the HTTP requests of a flow, which go to addresses that a server named: with bounds on all sides."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from assay.client.log import client_logger
from assay.model.client_error import AuthorizationFailed
from assay.model.error import MissingExtra
from assay.protocol.oauth.address import PORTS, check_url, origin, split
from assay.protocol.oauth.effect import HttpRequest, HttpResponse
from assay.protocol.oauth.network import Zone, allowed_from, zone_of_all
from assay.transport.client.proxy import Proxy, ProxyOption, proxy_for
from assay.transport.client.url import read_address

BODY_BYTES: Final = 256 * 1024
REDIRECTS: Final = 5
HOPS: Final = 10
"""Redirects on the way to the redirect URI, over any servers."""
REDIRECT_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
TIMEOUT: Final = 30.0
"""Seconds for one request."""
# Uncompressed: a small response could expand without bound.
PLAIN: Final = {"Accept-Encoding": "identity", "User-Agent": "assay"}
Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class HttpClient:
    """
    Args:
        server: The URL of the MCP server: metadata lead into its network, or a more public one.
        trusted: URLs that the user names: their hosts may be anywhere.
        tls: Which servers to trust.
        proxy: As for `Client`.

    Raises:
        MissingExtra: httpx2 is not installed.
    """

    def __init__(
        self,
        server: str,
        trusted: Iterable[str] = (),
        tls: ssl.SSLContext | None = None,
        resolve: Resolve = resolve,
        proxy: ProxyOption = None,
    ) -> None:
        try:
            import httpx2
        except ImportError:
            raise MissingExtra('OAuth needs httpx2: pip install "assay-mcp[auth]"') from None
        self._http = httpx2
        self._server = server
        self._trusted = {urlsplit(url).hostname for url in trusted}
        self._tls = tls
        self._resolve = resolve
        self._proxy = proxy
        self._allowed: frozenset[Zone] | None = None

    def place(self, peer: str) -> None:
        """The address at which the server was reached. To look up its name again could have another result:
        its owner would choose the networks that it may lead to."""
        self._allowed = allowed_from([peer])

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request; a GET follows redirects within its origin. Any other redirect is the response.

        Raises:
            AuthorizationFailed: it may not be sent, or no answer arrived.
        """
        url = request.url
        for _ in range(REDIRECTS + 1):
            response = await self._send_to(request, url)
            if request.method != "GET" or response.status not in REDIRECT_STATUSES:
                return response
            following = _absolute(url, response.headers.get("location", ""))
            if split(following) is None or origin(following) != origin(url):
                client_logger().debug("%s redirects to another origin, %s: not followed", url, following)
                return response
            url = following
        raise AuthorizationFailed(f"{request.url} redirects more than {REDIRECTS} times")

    async def follow(self, url: str, redirect_uri: str) -> str:
        """Open an authorization URL without a browser: where its redirects lead to, at the redirect URI.

        Raises:
            AuthorizationFailed: they do not lead there: the server wants to ask a person.
        """
        for _ in range(HOPS):
            response = await self._send_to(HttpRequest("GET", url), url)
            location = response.headers.get("location")
            if response.status not in REDIRECT_STATUSES or location is None:
                raise AuthorizationFailed(
                    f"{url.partition('?')[0]} answered with status {response.status} instead of a redirect:"
                    " it may want to ask a person; leave out headless=True"
                )
            url = _absolute(url, location)
            if url.partition("?")[0] == redirect_uri:
                return url
        raise AuthorizationFailed(f"the authorization did not end after {HOPS} redirects")

    async def _send_to(self, request: HttpRequest, url: str) -> HttpResponse:
        check_url(url, "an address of the authorization")
        proxy = self._proxy_for(url)
        try:
            async with asyncio.timeout(TIMEOUT):
                addresses = await self._addresses(url)
                return await self._send_to_any(request, url, [proxy] if proxy is not None else addresses)
        except TimeoutError:
            raise AuthorizationFailed(f"no answer from {url.partition('?')[0]} in {TIMEOUT:g} s") from None

    def _proxy_for(self, url: str) -> Proxy | None:
        try:
            return proxy_for(read_address(url), self._proxy)
        except ValueError as error:
            raise AuthorizationFailed(str(error)) from None

    async def _addresses(self, url: str) -> list[str]:
        """The addresses of a host, all of which must be in networks that the server may name."""
        addresses = await self._look_up(url)
        if urlsplit(url).hostname in self._trusted:
            return addresses
        if self._allowed is None:
            # Of a server whose name only the proxy knows, only what is public is assumed.
            known = await self._look_up(self._server)
            self._allowed = allowed_from(known) if known else frozenset({Zone.PUBLIC})
        zone = zone_of_all(addresses)
        if zone not in self._allowed and origin(url) != origin(self._server):
            raise AuthorizationFailed(
                f"{url.partition('?')[0]} is in {zone.value}, and the server {self._server} is not:"
                " such an address is not used"
            )
        return addresses

    async def _look_up(self, url: str) -> list[str]:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        try:
            return await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            if self._proxy_for(url) is not None:
                return []  # the proxy looks it up
            raise AuthorizationFailed(f"the name {host} cannot be resolved: {error}") from error

    async def _send_to_any(
        self, request: HttpRequest, url: str, addresses: Sequence[str | Proxy]
    ) -> HttpResponse:
        """Send to the very addresses that were checked: another look-up could have another result."""
        errors = self._http.HTTPError, self._http.InvalidURL, ValueError
        for address in addresses[:-1]:
            try:
                return await self._send_once(request, url, address)
            except self._http.ConnectError:
                continue
            except errors as error:
                raise _unreachable(url, error) from error
        try:
            return await self._send_once(request, url, addresses[-1])
        except errors as error:
            raise _unreachable(url, error) from error

    async def _send_once(self, request: HttpRequest, url: str, place: str | Proxy) -> HttpResponse:
        parts, headers = urlsplit(url), {**PLAIN, **request.headers}
        extensions: dict[str, Any] = {}
        proxy = None
        if isinstance(place, str):
            host = f"[{place}]" if ":" in place else place
            target = parts._replace(netloc=f"{host}:{parts.port or PORTS[parts.scheme]}")
            headers = {"Host": parts.netloc, **headers}
            extensions = {"sni_hostname": parts.hostname}
        else:
            target = parts
            credentials = {"Proxy-Authorization": place.credentials} if place.credentials else None
            proxy = self._http.Proxy(place.address.url, headers=credentials)
        content = request.body if request.method == "POST" else None
        url_sent = target._replace(fragment="").geturl()
        async with (
            self._http.AsyncClient(
                verify=self._trust(parts.scheme),
                follow_redirects=False,
                trust_env=False,
                timeout=TIMEOUT,
                proxy=proxy,
            ) as client,
            client.stream(
                request.method, url_sent, headers=headers, content=content, extensions=extensions
            ) as response,
        ):
            return HttpResponse(response.status_code, _headers(response), await _body(response, url))

    def _trust(self, scheme: str) -> ssl.SSLContext:
        if self._tls is not None:
            return self._tls
        if scheme == "http":
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts no server, and costs nothing
        self._tls = ssl.create_default_context()  # reads files, so only once
        return self._tls


def _absolute(url: str, location: str) -> str:
    """Where a redirect leads to; what is no URL stays as it is, and is not followed."""
    try:
        return urljoin(url, location)
    except ValueError:
        return location


def _headers(response: Any) -> Mapping[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


async def _body(response: Any, url: str) -> bytes:
    where = url.partition("?")[0]
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise AuthorizationFailed(f"{where} compressed its answer, which was not asked for")
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > BODY_BYTES:
            raise AuthorizationFailed(f"the answer of {where} has more than {BODY_BYTES} bytes")
    return bytes(body)


def _unreachable(url: str, error: Exception) -> AuthorizationFailed:
    reason = str(error) or type(error).__name__
    advice = "; pass tls= with its authority" if "CERTIFICATE_VERIFY_FAILED" in reason else ""
    return AuthorizationFailed(f"{url.partition('?')[0]} cannot be reached: {reason}{advice}")
