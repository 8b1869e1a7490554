"""Fetching what a client publishes about itself, from an address that the client chose.

Such an address may point at this machine or at what is behind it. So: https only, no redirect, no address
that is not of the public network, the connection goes to the very address that was looked at, and both size
and time have a bound. Documents of this machine can be allowed, for development.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

import msgspec

from assay.model.error import MissingExtra

from .http import only_mapping
from .settings import LOOPBACK, Bounds

MAX_AGE: Final = re.compile(r"(?:^|[\s,])max-age=(\d{1,9})", re.IGNORECASE)
HEADERS: Final = {"accept": "application/json", "accept-encoding": "identity"}
LONGEST: Final = 86_400.0
AT_ONCE: Final = 8
"""Documents under way: strangers can name addresses as fast as they like, and others would be asked by us."""
UNICAST: Final = ipaddress.ip_network("2000::/3")
"""All that is public of IPv6. Outside of it, addresses of IPv4 hide in others (NAT64, and older ways)."""


class Fetched(NamedTuple):
    content: dict[str, Any]
    lifetime: float | None
    """Seconds it may be kept; none where its sender does not say."""


class NotFetched(Exception):
    """There is no such document, or we do not go there. The text is for the client's developer."""


Fetch = Callable[[str], Awaitable[Fetched]]
Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in found]


def guarded_fetch(bounds: Bounds, *, loopback: bool = False, resolve: Resolve = resolve) -> Fetch:
    places = asyncio.Semaphore(AT_ONCE)

    async def fetch(url: str) -> Fetched:
        try:
            async with asyncio.timeout(bounds.fetch_seconds), places:
                address = await _address(url, loopback, resolve)
                return await get_from(address, url, bounds.document_bytes)
        except TimeoutError:
            raise NotFetched(f"no answer within {bounds.fetch_seconds:g} s") from None

    return fetch


async def _address(url: str, loopback: bool, resolve: Resolve) -> str:
    """One address of the host, all of them being allowed."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise NotFetched("not an address") from None
    host = parts.hostname or ""
    local = loopback and host in LOOPBACK
    if parts.scheme != "https" and not (local and parts.scheme == "http"):
        raise NotFetched("not an https address")
    try:
        addresses = await resolve(host, _port(parts))
    except (OSError, ValueError) as error:
        raise NotFetched(f"no such host ({type(error).__name__})") from None
    if not addresses or not all(_allowed(address, local) for address in addresses):
        raise NotFetched("the host is not on the public network")
    return addresses[0]


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _allowed(address: str, local: bool) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(ip, "ipv4_mapped", None) or ip
    if local:
        return mapped.is_loopback
    plain = isinstance(mapped, ipaddress.IPv4Address) or (mapped in UNICAST and mapped.sixtofour is None)
    return bool(plain and mapped.is_global and not mapped.is_multicast)


async def get_from(address: str, url: str, bound: int, trust: ssl.SSLContext | None = None) -> Fetched:
    """Ask that address, under the name that the URL has: a second lookup might give another one.

    Raises:
        NotFetched: there is no such document, or it is not whose name it has.
    """
    try:
        import httpx2
    except ImportError:
        raise MissingExtra('documents of clients need httpx2: pip install "assay-mcp[auth]"') from None
    parts = urlsplit(url)
    shown = f"[{address}]" if ":" in address else address
    target = parts._replace(netloc=f"{shown}:{_port(parts)}").geturl()
    # Not compressed: what is small on its way could be endless here.
    headers = {"host": parts.netloc.rpartition("@")[2], **HEADERS}
    named = {"sni_hostname": parts.hostname}
    try:
        async with (
            httpx2.AsyncClient(verify=trust or True, follow_redirects=False, trust_env=False) as client,
            client.stream("GET", target, headers=headers, extensions=named) as response,
        ):
            if response.status_code != 200:
                raise NotFetched(f"the answer is {response.status_code}; redirects are not followed")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise NotFetched("the document is compressed")
            body = await _body(response, bound)
            lifetime = lifetime_of(response.headers.get("cache-control", ""))
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:  # of a URL that cannot be sent, too
        raise NotFetched(f"no answer ({type(error).__name__})") from None
    return Fetched(_decoded(response.headers.get("content-type", ""), body), lifetime)


async def _body(response: Any, bound: int) -> bytes:
    body = b""
    async for part in response.aiter_raw():
        body += part
        if len(body) > bound:
            raise NotFetched(f"the document has more than {bound} bytes")
    return body


def _decoded(media_type: str, body: bytes) -> dict[str, Any]:
    kind = media_type.partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise NotFetched("the document is not application/json")
    try:
        return dict(only_mapping(msgspec.json.decode(body)))
    except (ValueError, RecursionError):
        raise NotFetched("the document is no JSON object") from None


def lifetime_of(cache_control: str) -> float | None:
    """How long a document may be kept (RFC 9111), within reason."""
    if re.search(r"no-store|no-cache", cache_control, re.IGNORECASE):
        return 0.0
    found = MAX_AGE.search(cache_control)
    return None if found is None else min(float(found[1]), LONGEST)
