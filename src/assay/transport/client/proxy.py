"""Which proxy leads to a server: the one that the user names, or that of the environment."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from .url import PORTS, Address

SCHEMES: Final = ("http", "https")
VARIABLES: Final = {"http": "http_proxy", "ws": "http_proxy", "https": "https_proxy", "wss": "https_proxy"}
ProxyOption = str | Literal[False] | None
"""A URL, no proxy, or that of the environment."""


class Proxy(NamedTuple):
    address: Address
    credentials: str = ""
    """The value of Proxy-Authorization, if it has any."""

    @property
    def line(self) -> str:
        return f"Proxy-Authorization: {self.credentials}\r\n" if self.credentials else ""

    def __repr__(self) -> str:
        return f"Proxy({self.address.url!r})"  # without credentials

    def forwards(self, address: Address) -> bool:
        """Whether the proxy reads the requests to this address. Others go through a tunnel."""
        return address.scheme == "http"


def read_proxy(text: str) -> Proxy:
    """
    Raises:
        ValueError: not the URL of a proxy. The message does not show its credentials.
    """
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not host.isascii() or any(character <= " " for character in text):
        raise ValueError("the proxy is not a URL: write http://host:port")
    if parts.scheme not in SCHEMES:
        raise ValueError(f"a proxy with {parts.scheme}:// is not supported: write http:// or https://")
    address = Address("", parts.scheme, host, port or PORTS[parts.scheme], "/")
    url = f"{parts.scheme}://{address.authority}"
    return Proxy(address._replace(url=url), _credentials(parts.username, parts.password))


def _credentials(user: str | None, password: str | None) -> str:
    if user is None:
        return ""
    pair = f"{unquote(user)}:{unquote(password or '')}".encode()
    return f"Basic {b64encode(pair).decode()}"


def proxy_for(
    address: Address, proxy: ProxyOption = None, environ: Mapping[str, str] = os.environ
) -> Proxy | None:
    """The proxy for an address; None to connect to it directly.

    Raises:
        TypeError, ValueError: not the URL of a proxy.
    """
    if isinstance(proxy, str):
        return read_proxy(proxy)
    if proxy is False:
        return None
    if proxy is not None:
        raise TypeError(f"proxy must be a URL, False or None, not {type(proxy).__name__}")
    name = VARIABLES[address.scheme]
    text = _variable(name, environ) or _variable("all_proxy", environ)
    if not text or _is_loopback(address.host) or _is_excluded(address, _variable("no_proxy", environ)):
        return None
    try:
        return read_proxy(text)
    except ValueError as error:
        raise ValueError(f"the variable {name.upper()} or ALL_PROXY: {error}") from None


def _variable(name: str, environ: Mapping[str, str]) -> str:
    value = environ.get(name, "")
    # Under CGI, HTTP_PROXY is a header that a client of this program chose.
    if not value and not (name == "http_proxy" and "REQUEST_METHOD" in environ):
        value = environ.get(name.upper(), "")
    return value.strip()


def _is_loopback(host: str) -> bool:
    """Servers on this machine are never behind a proxy of the environment."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_excluded(address: Address, exceptions: str) -> bool:
    return any(_matches(address, entry.strip().lower()) for entry in exceptions.split(","))


def _matches(address: Address, entry: str) -> bool:
    """Whether an entry of NO_PROXY has this address: `*`, a domain, a host, a network, or one with a port."""
    if entry in ("", "*"):
        return entry == "*"
    from ipaddress import ip_address, ip_network

    try:
        return ip_address(address.host) in ip_network(entry, strict=False)
    except ValueError:
        pass
    host, colon, port = entry.rpartition(":")
    if colon and port.isdecimal():
        if int(port) != address.port:
            return False
        entry = host
    domain = entry.lstrip("*").lstrip(".").strip("[]")
    name = address.host.lower()
    return name == domain or name.endswith(f".{domain}")
