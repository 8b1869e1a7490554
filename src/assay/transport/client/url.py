"""Addresses of servers, checked before anything is sent to them."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import urljoin, urlsplit

PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
ENCRYPTED: Final = frozenset({"https", "wss"})


class Address(NamedTuple):
    url: str
    scheme: str
    host: str
    port: int
    target: str
    """The path and query for the request line."""

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def is_encrypted(self) -> bool:
        return self.scheme in ENCRYPTED

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def read_address(url: str) -> Address:
    """
    Raises:
        ValueError: not the URL of a server.
    """
    if any(character <= " " or character == "\x7f" for character in url):
        raise ValueError(f"a URL has no spaces or control characters: {url!r}")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"not a URL: {url!r}: {error}") from None
    if parts.scheme not in PORTS or not host:
        raise ValueError(f"the URL of a server starts with http://, https://, ws:// or wss://: {url!r}")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a URL with user and password is not supported: pass headers={'Authorization': …}")
    query = f"?{parts.query}" if parts.query else ""
    target = (parts.path or "/") + query
    if not (target.isascii() and host.isascii()):
        target, host = _quoted(target), host.encode("idna").decode()
    return Address(url, parts.scheme, host, port or PORTS[parts.scheme], target)


def _quoted(target: str) -> str:
    from urllib.parse import quote

    return quote(target, safe="/?&=%:@!$'()*+,;~-._")


def absolute(address: Address) -> Address:
    """With the whole URL in the request line, for a proxy."""
    return address._replace(target=f"{address.scheme}://{address.authority}{address.target}")


def redirected(address: Address, location: str) -> Address | None:
    """The address that a redirect leads to; None if that has another origin, which must not get our headers.

    Raises:
        ValueError: not the URL of a server.
    """
    following = read_address(urljoin(address.url, location))
    return following if following.origin == address.origin else None
