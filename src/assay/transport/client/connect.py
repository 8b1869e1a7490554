"""Opens a TCP connection, encrypted if the address says so, and explains why it could not."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import TypeVar

from assay.model.client_error import ConnectionFailed

from .proxy import Proxy
from .url import Address

P = TypeVar("P", bound=asyncio.Protocol)
Q = TypeVar("Q", bound=asyncio.Protocol)


async def connect(
    make: Callable[[], P],
    address: Address,
    tls: ssl.SSLContext | None,
    timeout: float,
    hosts: list[str] | None = None,
    proxy: Proxy | None = None,
) -> P:
    """
    Args:
        hosts: IP addresses of the host, if they were looked up and checked already.
        proxy: Looks up the host and connects to it.

    Raises:
        ConnectionFailed: the server cannot be reached, or is not trusted.
    """
    context = (tls or ssl.create_default_context()) if address.is_encrypted else None
    via = "" if proxy is None else f" through the proxy {proxy.address.url}"
    try:
        async with asyncio.timeout(timeout):
            if proxy is not None:
                return await _connect_through(proxy, make, address, context, timeout)
            return await _connect_to_any(make, address, context, timeout, hosts or await _resolve(address))
    except TimeoutError as error:
        raise unreachable(address, f"no answer in {timeout:g} s; is a firewall in between?", via) from error
    except ssl.SSLError as error:
        # Not an address that cannot be reached: to try again would not help.
        raise ConnectionFailed(f"cannot connect to {address.url}{via}: {_problem(error)}") from error
    except (OSError, ValueError) as error:
        if isinstance(error, ConnectionFailed):
            raise
        raise unreachable(address, _problem(error), via) from error


async def _connect_through(
    proxy: Proxy, make: Callable[[], P], address: Address, context: ssl.SSLContext | None, timeout: float
) -> P:
    trust = ssl.create_default_context() if proxy.address.is_encrypted else None

    async def reach(protocol: Callable[[], Q]) -> Q:
        try:
            hosts = await _resolve(proxy.address)
            return await _connect_to_any(protocol, proxy.address, trust, timeout, hosts)
        except (OSError, ValueError) as error:
            if isinstance(error, TimeoutError):
                raise
            problem = f"the proxy {proxy.address.url} cannot be reached: {_problem(error)}"
            raise unreachable(address, problem) from error

    if proxy.forwards(address):
        return await reach(make)
    from .tunnel import Tunnel, through  # not at the top: it needs httptools

    return await through(await reach(lambda: Tunnel(proxy, address)), make, address, context)


def unreachable(address: Address, problem: str, via: str = "") -> ConnectionFailed:
    """The error for a connection that could not be opened: nothing was sent."""
    failure = ConnectionFailed(f"cannot connect to {address.url}{via}: {problem}")
    failure.unsent = True
    return failure


async def _connect_to_any(
    make: Callable[[], P],
    address: Address,
    context: ssl.SSLContext | None,
    timeout: float,
    hosts: list[str],
) -> P:
    """Try the addresses of a host in turn, with a share of the time for each: a route that drops packets must
    not use it up. Not with asyncio's race of addresses: cancelled, it may leave a socket behind."""
    for host in hosts[:-1]:
        try:
            async with asyncio.timeout(timeout / len(hosts)):
                return await _connect(make, host, address, context)
        except OSError:
            continue  # the error of the last address is raised
    return await _connect(make, hosts[-1], address, context)


async def _resolve(address: Address) -> list[str]:
    if ":" in address.host or address.host.replace(".", "").isdigit():
        return [address.host]
    entries = await asyncio.get_running_loop().getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM
    )
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


async def _connect(make: Callable[[], P], host: str, address: Address, context: ssl.SSLContext | None) -> P:
    name = address.host if context is not None else None
    _, protocol = await asyncio.get_running_loop().create_connection(
        make, host, address.port, ssl=context, server_hostname=name
    )
    return protocol


def _problem(error: OSError | ValueError) -> str:
    """Why a connection could not be opened, and what to change."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}; pass tls= with its authority"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed ({error.reason}); does the server expect http:// or ws:// instead?"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused; is the server running, and on this port?"
    if isinstance(error, socket.gaierror):
        return "the name of the host cannot be resolved; check its spelling and the network"
    return str(error) or type(error).__name__
