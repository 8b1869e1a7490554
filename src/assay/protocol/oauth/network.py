"""Which networks a client may be sent to by the metadata of a server (SSRF)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from enum import Enum
from typing import Final

UNICAST: Final = ipaddress.ip_network("2000::/3")
"""The public part of IPv6. Outside it, some ranges embed IPv4 addresses."""


class Zone(Enum):
    PUBLIC = "the public network"
    PRIVATE = "a private network"
    LOOPBACK = "this machine"
    SPECIAL = "a special network"
    """Link-local, where clouds keep credentials of machines, multicast, and what no host should have."""


ALLOWED: Final = {
    Zone.PUBLIC: frozenset({Zone.PUBLIC}),
    Zone.PRIVATE: frozenset({Zone.PUBLIC, Zone.PRIVATE}),
    Zone.LOOPBACK: frozenset({Zone.PUBLIC, Zone.PRIVATE, Zone.LOOPBACK}),
    Zone.SPECIAL: frozenset({Zone.PUBLIC}),
}
"""Where a server in a zone may send its clients."""


def zone_of(address: str) -> Zone:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return Zone.SPECIAL  # unknown, as of a connection that was reset at once
    plain = getattr(ip, "ipv4_mapped", None) or ip
    if plain.is_loopback:
        return Zone.LOOPBACK
    if plain.is_link_local or plain.is_multicast or plain.is_unspecified or plain.is_reserved:
        return Zone.SPECIAL
    if isinstance(plain, ipaddress.IPv6Address) and plain.is_global:
        embeds = plain not in UNICAST or plain.sixtofour is not None or plain.teredo is not None
        return Zone.SPECIAL if embeds else Zone.PUBLIC
    return Zone.PUBLIC if plain.is_global else Zone.PRIVATE


def allowed_from(addresses: Iterable[str]) -> frozenset[Zone]:
    """Where a server with these addresses may send its clients: what each of them allows. A server that adds
    a private address to its public ones does not get further."""
    allowed = [ALLOWED[zone_of(address)] for address in addresses]
    return frozenset(Zone).intersection(*allowed) if allowed else frozenset()


def zone_of_all(addresses: Iterable[str]) -> Zone:
    """The zone of a host: the least public one of its addresses."""
    zones = {zone_of(address) for address in addresses}
    return next((zone for zone in (Zone.SPECIAL, Zone.LOOPBACK, Zone.PRIVATE) if zone in zones), Zone.PUBLIC)
