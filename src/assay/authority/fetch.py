"""Fetch a document that a client publishes about itself, from a URL that the client chose.

Such a URL may point to this machine or into its network (SSRF). So: https only, no redirects, public
addresses
only, a connection to the very address that was checked, and bounds on size and time. Loopback addresses can
be allowed for development.
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
CONCURRENT: Final = 8
"""Requests in flight: anyone can name URLs at any rate, and this server would send the requests."""
UNICAST: Final = ipaddress.ip_network("2000::/3")
"""The public part of IPv6. Outside it, some ranges embed IPv4 addresses (NAT64 and older mechanisms)."""


class Fetched(NamedTuple):
    content: dict[str, Any]
    lifetime: float | None
    """Seconds it may be cached; `None` if the response does not say."""


class NotFetched(Exception):
    """The document does not exist or must not be fetched. The message is for the client's developer."""


Fetch = Callable[[str], Awaitable[Fetched]]
Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in entries]


def guarded_fetch(bounds: Bounds, *, loopback: bool = False, resolve: Resolve = resolve) -> Fetch:
    slots = asyncio.Semaphore(CONCURRENT)

    async def fetch(url: str) -> Fetched:
        try:
            async with asyncio.timeout(bounds.fetch_seconds), slots:
                address = await _address(url, loopback, resolve)
                return await get_from(address, url, bounds.document_bytes)
        except TimeoutError:
            raise NotFetched(f"no answer within {bounds.fetch_seconds:g} s") from None

    return fetch


async def _address(url: str, loopback: bool, resolve: Resolve) -> str:
    """An address of the host. All its addresses must be allowed, or a retry could reach another."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise NotFetched("not a URL") from None
    host = parts.hostname or ""
    local = loopback and host in LOOPBACK
    if parts.scheme != "https" and not (local and parts.scheme == "http"):
        raise NotFetched("not an https URL")
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
    """Request the URL from this address: a second DNS lookup could return another one (DNS rebinding).

    Raises:
        NotFetched: The document cannot be read, or the server is not the one that the URL names.
    """
    try:
        import httpx2
    except ImportError:
        raise MissingExtra('documents of clients need httpx2: pip install "assay-mcp[auth]"') from None
    parts = urlsplit(url)
    host = f"[{address}]" if ":" in address else address
    target = parts._replace(netloc=f"{host}:{_port(parts)}").geturl()
    # Uncompressed: a small response could expand without bound.
    headers = {"host": parts.netloc.rpartition("@")[2], **HEADERS}
    extensions = {"sni_hostname": parts.hostname}
    try:
        async with (
            httpx2.AsyncClient(verify=trust or True, follow_redirects=False, trust_env=False) as client,
            client.stream("GET", target, headers=headers, extensions=extensions) as response,
        ):
            if response.status_code != 200:
                raise NotFetched(f"the status is {response.status_code}; redirects are not followed")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise NotFetched("the document is compressed")
            body = await _body(response, bound)
            lifetime = lifetime_of(response.headers.get("cache-control", ""))
    except (
        httpx2.HTTPError,
        httpx2.InvalidURL,
        ValueError,
    ) as error:  # ValueError: the URL cannot be encoded
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
        raise NotFetched("the document is not a JSON object") from None


def lifetime_of(cache_control: str) -> float | None:
    """Seconds that the response may be cached (RFC 9111, 5.2.2), at most a day."""
    if re.search(r"no-store|no-cache", cache_control, re.IGNORECASE):
        return 0.0
    max_age = MAX_AGE.search(cache_control)
    return None if max_age is None else min(float(max_age[1]), LONGEST)
