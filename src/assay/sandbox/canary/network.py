"""Escapes to a network, or to services by sockets."""

from __future__ import annotations

import socket
import struct
from typing import Final

from assay.sandbox.launch.plan import Protection as P

from .escape import Area, Bait, Blocked, NotPossible, escape

PATIENCE: Final = 2.0
QUERY: Final = struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + b"\x07example\x03com\x00\x00\x01\x00\x01"
GET_LINKS: Final = struct.pack("=IHHIIBxxxxxxxxxxxxxxx", 32, 18, 0x301, 1, 0, 0)
"""A request for all network interfaces: RTM_GETLINK with NLM_F_DUMP."""
LOOPBACK: Final = 1
"""The index of the loopback interface, the only one of an empty network."""
HYPERVISOR: Final = 2


def _greeting(connection: socket.socket) -> str:
    connection.settimeout(PATIENCE)
    if not connection.recv(16):
        raise Blocked("connected, but nothing answered")
    return "connected to a server of the host"


@escape("tcp", "Connect to the host by TCP", Area.NETWORK, P.NETWORK, P.SECCOMP, P.LANDLOCK)
def tcp(bait: Bait) -> str:
    with socket.create_connection(("127.0.0.1", bait.tcp), PATIENCE) as connection:
        return _greeting(connection)


@escape("tcp-ipv6", "Connect to the host by TCP over IPv6", Area.NETWORK, P.NETWORK, P.SECCOMP, P.LANDLOCK)
def tcp_ipv6(bait: Bait) -> str:
    if not bait.tcp6:
        raise NotPossible("the host has no IPv6")
    with socket.create_connection(("::1", bait.tcp6), PATIENCE) as connection:
        return _greeting(connection)


def _ask(bait: Bait, message: bytes) -> bytes:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.settimeout(PATIENCE)
        channel.sendto(message, ("127.0.0.1", bait.udp))
        return channel.recv(512)


@escape("udp", "Exchange a datagram with the host", Area.NETWORK, P.NETWORK, P.SECCOMP)
def udp(bait: Bait) -> str:
    return f"the host answered with {len(_ask(bait, b'hello'))} bytes"


@escape("dns", "Look up a name", Area.NETWORK, P.NETWORK, P.SECCOMP)
def dns(bait: Bait) -> str:
    answer = _ask(bait, QUERY)
    if not answer[2] & 0x80:
        raise Blocked("the answer is not one of a name server")
    return "a name server answered"


@escape("raw-socket", "Open a raw IP socket", Area.NETWORK, P.USER, P.SECCOMP)
def raw_socket(bait: Bait) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP):
        return "opened"


@escape("packet-socket", "Open a socket for raw packets", Area.NETWORK, P.USER, P.SECCOMP)
def packet_socket(bait: Bait) -> str:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)):
        return "opened"


@escape("netlink", "List network interfaces of the host", Area.NETWORK, P.NETWORK, P.SECCOMP)
def netlink(bait: Bait) -> str:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as channel:
        channel.send(GET_LINKS)
        data = channel.recv(65536)
    indices = set()
    while len(data) >= 24:
        (length,) = struct.unpack_from("=I", data)
        indices.add(struct.unpack_from("=i", data, 20)[0])
        data = data[(length + 3) & ~3 :]
    if indices <= {LOOPBACK}:
        raise Blocked("only the loopback interface of an empty network")
    return f"{len(indices)} interfaces"


@escape(
    "abstract-socket",
    "Connect to a local socket without a path",
    Area.NETWORK,
    *(P.NETWORK, P.LANDLOCK, P.SECCOMP),
)
def abstract_socket(bait: Bait) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"\0{bait.abstract}")
        return _greeting(connection)


@escape("path-socket", "Connect to a local socket of the host", Area.NETWORK, P.FILES, P.SECCOMP)
def path_socket(bait: Bait) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"{bait.directory}/socket")
        return _greeting(connection)


@escape("vsock", "Open a socket to the hypervisor", Area.NETWORK, P.SECCOMP)
def vsock(bait: Bait) -> str:
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        return "opened"


ESCAPES: Final = (
    *(tcp, tcp_ipv6, udp, dns, raw_socket, packet_socket, netlink),
    *(abstract_socket, path_socket, vsock),
)
