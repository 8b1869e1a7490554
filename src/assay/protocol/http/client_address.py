"""The address that a request came from, also behind proxies that the operator trusts.

Any client can send `Forwarded` and `X-Forwarded-For`. So they are read only if a trusted proxy delivered the
request, and from the right: each proxy appends the address that it was called from, and what stands left of
the first address that is not a trusted proxy's may be invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from .policy import hostname

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Headers = Iterable[tuple[bytes, bytes]]

_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PAIR: Final = rf'{_TOKEN}=(?:{_TOKEN}|"(?:[^"\\]|\\.)*")'
_ELEMENT: Final = rf"{_PAIR}(?:\s*;\s*{_PAIR})*"
FORWARDED: Final = re.compile(rf"\s*{_ELEMENT}(?:\s*,\s*{_ELEMENT})*\s*")
"""RFC 7239, section 4. The whole value must match: an unfinished quotation of the client could otherwise hide
what the proxy has appended."""
PARTS: Final = re.compile(rf'(?P<name>{_TOKEN})=(?P<value>{_TOKEN}|"(?:[^"\\]|\\.)*")|(?P<comma>,)')
CLIENT_PREFIX: Final = 64
"""Bits of an IPv6 address that identify a client: the rest it can choose at will (RFC 6177)."""


def read_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """
    Raises:
        ValueError: one is neither an address nor a network such as `10.0.0.0/8`.
    """
    return tuple(ip_network(text) for text in texts)


def client_address(connected_from: str, headers: Headers, trusted_proxies: Sequence[Network]) -> str:
    """The address that counts as the client's: an IPv4 address, the network of an IPv6 address, or any other
    text that the HTTP server uses for the other side of a connection."""
    if not trusted_proxies:
        return _client_of(connected_from)
    address = _read(connected_from)
    if address is None or not _trusted(address, trusted_proxies):
        return _client_of(connected_from)
    return _client_of(str(_before_proxies(address, headers, trusted_proxies)))


def is_trusted(connected_from: str, trusted_proxies: Sequence[Network]) -> bool:
    """Whether a connection comes from a trusted proxy."""
    address = _read(connected_from)
    return address is not None and _trusted(address, trusted_proxies)


@lru_cache(maxsize=1024)
def _client_of(connected_from: str) -> str:
    """The text that a client is counted by. Cached, because a client opens many connections."""
    address = _read(connected_from)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((int(address), CLIENT_PREFIX), strict=False))
    return connected_from if address is None else str(address)


def _before_proxies(proxy: Address, headers: Headers, trusted_proxies: Sequence[Network]) -> Address:
    values: dict[bytes, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value.decode("latin-1"))
    chains = [read(", ".join(values[name])) for name, read in HEADERS.items() if name in values]
    addresses = {_first_untrusted(proxy, chain, trusted_proxies) for chain in chains}
    # A proxy sets one of the headers and passes the other one on as the client sent it. If both are there and
    # disagree, it is unknown which of them to believe.
    return addresses.pop() if len(addresses) == 1 else proxy


def _first_untrusted(proxy: Address, chain: list[str], trusted_proxies: Sequence[Network]) -> Address:
    """The first address from the right that is not a trusted proxy's; the last proxy's if it is hidden."""
    address = proxy
    for text in reversed(chain):
        previous = _read(text)
        if previous is None:
            break
        address = previous
        if not _trusted(address, trusted_proxies):
            break
    return address


def _split_forwarded(value: str) -> list[str]:
    """The `for` of each element; empty for one without it."""
    if FORWARDED.fullmatch(value) is None:
        return [""]
    chain = [""]
    for part in PARTS.finditer(value):
        if part["comma"]:
            chain.append("")
        elif part["name"].lower() == "for":
            chain[-1] = part["value"].strip('"')
    return chain


def _split_x_forwarded_for(value: str) -> list[str]:
    return [text.strip() for text in value.split(",")]


HEADERS: Final = {b"forwarded": _split_forwarded, b"x-forwarded-for": _split_x_forwarded_for}


def _read(text: str) -> Address | None:
    """An address with or without port; none for anything else, such as `unknown` or `_hidden`."""
    try:
        address = ip_address(hostname(text).strip("[]"))
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _trusted(address: Address, trusted_proxies: Sequence[Network]) -> bool:
    return any(address in network for network in trusted_proxies)
