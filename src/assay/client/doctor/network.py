"""The way to a host: its name, a TCP connection, TLS."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
from typing import Any, Final

from msgspec.structs import replace

from assay.transport.client.url import Address

from .step import Setup, Status, Step, failed, passed, warned

DAYS: Final = 14
"""Days before its end from which a certificate is worth a warning."""
_UNTRUSTED: Final = (
    "it is not signed by a trusted authority",
    "pass its authority with --ca (tls= in code); a server must also send its intermediate certificates",
)
CERTIFICATE: Final = {
    9: ("it is not valid yet", "check the clock of this machine, and the dates of the certificate"),
    10: ("it has expired", "renew the server's certificate; if it is new, restart the server"),
    18: _UNTRUSTED,
    19: _UNTRUSTED,
    20: _UNTRUSTED,
    21: _UNTRUSTED,
    62: ("it is for another name", "use the name in the certificate, or issue one for this name"),
    64: ("it is for another address", "use the name in the certificate, or issue one for this address"),
}
"""OpenSSL's codes for what is wrong with a certificate, and what to change."""
PLAIN: Final = frozenset(
    {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNEXPECTED_MESSAGE", "RECORD_LAYER_FAILURE"}
)
"""OpenSSL's reasons if the other side does not speak TLS."""


async def resolve(address: Address, setup: Setup) -> tuple[Step, list[str]]:
    start = time.perf_counter()
    try:
        async with asyncio.timeout(setup.timeout):
            entries = await asyncio.get_running_loop().getaddrinfo(
                address.host, address.port, type=socket.SOCK_STREAM
            )
    except TimeoutError:
        fix = "check the name servers of this machine"
        return failed("name", f"{address.host} was not resolved in {setup.timeout:g} s", fix), []
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        fix = "check its spelling, the network, and the name servers of this machine"
        return failed("name", f"{address.host} cannot be resolved: {reason}", fix), []
    hosts = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    return passed("name", f"{address.host} is {', '.join(hosts)}", _ms(start)), hosts


async def reach_proxy(address: Address, setup: Setup) -> Step:
    """Whether a proxy can be reached. It looks up the server's name, so that the steps to it are hidden."""
    step, hosts = await resolve(address, setup)
    if step.status is not Status.FAILED:
        step = await connect(address, hosts, setup)
    fix = "check proxy= or HTTPS_PROXY; NO_PROXY names hosts that need none" if step.fix else ""
    return replace(step, name="proxy", detail=f"{address.url}: {step.detail}", fix=fix)


async def connect(address: Address, hosts: list[str], setup: Setup) -> Step:
    """Try each address: a client may take any of them."""
    start = time.perf_counter()
    failures: dict[str, OSError] = {}
    for host in hosts:
        try:
            async with asyncio.timeout(setup.timeout / len(hosts)):
                _, writer = await asyncio.open_connection(host, address.port)
            writer.transport.abort()
        except OSError as error:  # TimeoutError is one
            failures[host] = error
    working = [host for host in hosts if host not in failures]
    problems = "; ".join(f"{host}: {_reason(error)}" for host, error in failures.items())
    if not working:
        return failed("tcp", f"no connection to port {address.port}: {problems}", _tcp_fix(address, failures))
    if failures:
        fix = (
            "clients may try that address first and wait: let the server listen there, or remove it from DNS"
        )
        return warned("tcp", f"port {address.port} is open on {', '.join(working)}, but {problems}", fix)
    return passed("tcp", f"port {address.port} is open", _ms(start))


def _reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer"
    return os.strerror(error.errno) if error.errno else str(error) or type(error).__name__


def _tcp_fix(address: Address, failures: dict[str, OSError]) -> str:
    if any(isinstance(error, ConnectionRefusedError) for error in failures.values()):
        return (
            f"is the server running, and on port {address.port}? in a container it must listen on 0.0.0.0,"
            " not on 127.0.0.1"
        )
    return "check the port, and the firewalls between: nothing answers there"


async def handshake(address: Address, host: str, setup: Setup) -> Step:
    start = time.perf_counter()
    context = setup.tls or ssl.create_default_context()
    try:
        async with asyncio.timeout(setup.timeout):
            _, writer = await asyncio.open_connection(
                host, address.port, ssl=context, server_hostname=address.host
            )
    except TimeoutError:
        fix = "does this port speak TLS? try http:// or ws://, if this is a test server"
        return failed("tls", f"no handshake in {setup.timeout:g} s", fix)
    except (OSError, ValueError) as error:
        return failed("tls", *_tls_problem(error))
    certificate: Any = writer.get_extra_info("peercert") or {}
    version = writer.get_extra_info("ssl_object").version()
    writer.transport.abort()
    return _judge_certificate(certificate, version, _ms(start))


def _tls_problem(error: OSError | ValueError) -> tuple[str, str]:
    if isinstance(error, ssl.SSLCertVerificationError):
        problem, fix = CERTIFICATE.get(error.verify_code, (error.verify_message, _UNTRUSTED[1]))
        return f"the certificate is refused: {problem} ({error.verify_message})", fix
    if isinstance(error, ssl.SSLError) and error.reason in PLAIN:
        return "the server does not speak TLS on this port", "write http:// or ws://, or the port with TLS"
    if isinstance(error, ssl.SSLError):
        fix = "compare the TLS versions and ciphers of both sides; a client certificate is --client-cert"
        return f"the handshake failed: {error.reason or error}", fix
    fix = "does this port speak TLS? a proxy before it may refuse the name"
    return f"the server ended the connection during the handshake: {error}", fix


def _judge_certificate(certificate: dict[str, Any], version: str, ms: float) -> Step:
    end = certificate.get("notAfter")
    if not end:
        return passed("tls", f"{version}; the certificate was not verified", ms)
    days = int((ssl.cert_time_to_seconds(end) - time.time()) / 86_400)
    detail = f"{version}, certificate of {_common_name(certificate, 'issuer')}, valid until {end}"
    if days < DAYS:
        return warned("tls", f"{detail}: {days} days left", "renew the server's certificate")
    return passed("tls", detail, ms)


def _common_name(certificate: dict[str, Any], part: str) -> str:
    names = dict(pair for entry in certificate.get(part, ()) for pair in entry)
    return str(names.get("commonName") or names.get("organizationName") or "an unnamed authority")


def _ms(start: float) -> float:
    return round(1000 * (time.perf_counter() - start), 1)
