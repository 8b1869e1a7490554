"""Run an authorization server for development and tests, with faults to switch on. Not for production.

examples:
  assay authority --auto-approve                     consent without a click
  assay authority --client cli:s3cret --scope read   a registered client, and a scope
  assay authority --store authority.db               clients, tokens and keys survive a restart
  assay authority --list-faults                      the faults that --fault switches on

It implements OAuth and OpenID Connect metadata, authorization code with PKCE, registration, client id
metadata documents, client credentials, refresh with rotation, DPoP, introspection and revocation. It has no
passwords.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from assay.cli.options.value import port
from assay.cli.output.stream import emit, emit_lines
from assay.model.error import MissingExtra, TlsError
from assay.model.limits import Limits

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from ssl import SSLContext

    from assay.authority.authority import Authority
    from assay.authority.record import Client
    from assay.authority.settings import Settings
    from assay.authority.store import Store

SUMMARY = "run an authorization server for development and tests"
GROUP = "build and serve"
USAGE = "[options]"
HOST: Final = "127.0.0.1"
PORT: Final = 9000
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
LOCAL_ONLY: Final = ("auto_approve", "dev_mint")
BANNER: Final = "FOR DEVELOPMENT AND TESTS ONLY: no passwords, no protection of accounts"
ENDPOINTS: Final = (
    "authorization_endpoint",
    "token_endpoint",
    "registration_endpoint",
    "introspection_endpoint",
    "revocation_endpoint",
    "jwks_uri",
)
"""What is printed, by its name in the metadata."""


def configure(parser: Parser) -> None:
    _add_listening(parser.add_argument_group("listening"))
    _add_clients(parser.add_argument_group("clients and users"))
    _add_tokens(parser.add_argument_group("tokens and keys"))
    add = parser.add_argument_group("tests").add_argument
    add("--fault", metavar="NAME", action="append", default=[], help="switch on a fault; repeatable")
    add("--list-faults", action="store_true", help="show all faults and end")
    mint = "programs on this machine may POST /dev/mint and /dev/rotate"
    add("--dev-mint", action="store_true", help=mint)
    add("--verbose", action="store_true", help="one line for each request, without secrets")


def _add_listening(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--host", default=HOST, help=f"address to listen on; default: {HOST}")
    add("--port", type=port, default=PORT, help=f"port to listen on, 0 for any free one; default: {PORT}")
    add("--issuer", metavar="URL", help="its URL as clients know it; default: http(s)://<host>:<port>")
    add("--tls-cert", metavar="FILE", help="use TLS, with this certificate (PEM)")
    add("--tls-key", metavar="FILE", help="its private key, unless it is in the same file")
    add("--store", metavar="FILE", help="keep records in this SQLite file; default: in memory")


def _add_clients(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    several: dict[str, Any] = {"action": "append", "default": []}
    add("--client", metavar="ID[:SECRET]", help="a registered client; repeatable", **several)
    redirect = "redirect URI of --client; repeatable; default: http://127.0.0.1/callback, any port"
    add("--redirect-uri", metavar="URI", help=redirect, **several)
    add("--user", metavar="NAME", help="a user that can consent; repeatable; default: developer", **several)
    approve = "consent without a click, as the first user or `login_hint`"
    add("--auto-approve", action="store_true", help=approve)
    add("--no-registration", action="store_true", help="clients cannot register")
    loopback = "client ids may be http URLs on this machine"
    add("--loopback-documents", action="store_true", help=loopback)


def _add_tokens(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    several: dict[str, Any] = {"action": "append", "default": []}
    add("--scope", metavar="NAME", help="scope that can be granted; repeatable; default: any", **several)
    add(
        "--resource",
        metavar="URI",
        help="resource that tokens can be for; repeatable; default: any",
        **several,
    )
    audience = "audience of tokens without a resource; default: the issuer"
    add("--audience", metavar="URI", help=audience)
    algorithm = "ES256, RS256, PS256 or EdDSA; default: ES256"
    add("--algorithm", metavar="ALG", default="ES256", help=algorithm)
    opaque = "access tokens are not JWTs: resource servers use introspection"
    add("--opaque", action="store_true", help=opaque)
    lifetime = "seconds that an access token is valid; default: 300"
    add("--access-lifetime", metavar="S", type=lasting, default=300.0, help=lifetime)
    rotate = "use a new signing key every S seconds; SIGHUP does it, too"
    add("--rotate-every", metavar="S", type=lasting, help=rotate)
    add("--dpop-nonce", action="store_true", help="DPoP proofs need a nonce")


def lasting(text: str) -> float:
    """A number of seconds."""
    with suppress(ValueError):
        if 0 < (number := float(text)) < 1e9:
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")


def execute(options: argparse.Namespace) -> int:
    with required_extras():
        if options.list_faults:
            return list_faults()
        bound = listening(options.host, options.port)
        try:
            return serve(options, bound)
        finally:
            bound.close()


@contextmanager
def required_extras() -> Iterator[None]:
    try:
        yield
    except MissingExtra as error:
        raise CommandFailed(ExitCode.NOT_STARTED, str(error)) from error
    except ModuleNotFoundError as error:
        if error.name not in ("jwt", "cryptography", "httptools"):
            raise
        hint = 'pip install "assay-mcp[auth,http]"'
        raise CommandFailed(ExitCode.NOT_STARTED, f"{error.name} is not installed", hint) from error


def list_faults() -> int:
    from assay.authority.faults import FAULTS

    width = max(map(len, FAULTS))
    emit("".join(f"{name:<{width}}  {fault.stage:<8}  {fault.about}\n" for name, fault in FAULTS.items()))
    return ExitCode.OK


def listening(host: str, number: int) -> socket.socket:
    from assay.transport.http1.listening import listen

    try:
        return listen(host, number)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        problem = (
            f"port {number} is in use on {host}" if taken else f"cannot listen on {host}: {error.strerror}"
        )
        hint = "choose another with --port, or --port 0 for any"
        raise CommandFailed(ExitCode.NOT_STARTED, problem, hint) from error


def serve(options: argparse.Namespace, bound: socket.socket) -> int:
    from assay.authority.app import AuthorityApp
    from assay.authority.authority import Authority
    from assay.authority.metadata import metadata

    if options.verbose:
        logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    tls = context_of(options)
    store = open_store(options.store)
    try:
        authority = Authority(settings_of(options, bound.getsockname()[1]), store=store)
        published = metadata(authority)
        lines = [BANNER, f"issuer: {authority.issuer}"]
        lines += [f"  - {name}: {published[name]}" for name in ENDPOINTS if name in published]
        lines += [f"  - fault: {name}" for name in sorted(authority.faults.names)]
        emit_lines(lines)
        return asyncio.run(until_stopped(AuthorityApp(authority), bound, options.rotate_every, tls))
    finally:
        if store is not None:
            store.close()


def context_of(options: argparse.Namespace) -> SSLContext | None:
    from assay.transport.http1.tls import make_context

    try:
        return make_context(options.tls_cert, options.tls_key, None)
    except TlsError as error:
        raise CommandFailed(ExitCode.USAGE, str(error), "--tls-cert and --tls-key name PEM files") from error


def open_store(path: str | None) -> Store | None:
    if path is None:
        return None
    import sqlite3

    from assay.authority.sqlite import SqliteStore

    try:
        return SqliteStore(path)
    except (OSError, sqlite3.Error) as error:
        problem = f"cannot keep records in {path}: {error}"
        raise CommandFailed(ExitCode.USAGE, problem, "name a file that can be written") from error


def settings_of(options: argparse.Namespace, number: int) -> Settings:
    from assay.authority.settings import Lifetimes, Settings

    host = f"[{options.host}]" if ":" in options.host else options.host
    scheme = "http" if options.tls_cert is None else "https"
    refuse_open_issuer(options)
    try:
        return Settings(
            issuer=options.issuer or f"{scheme}://{host}:{number}",
            users=tuple(options.user) or ("developer",),
            clients=tuple(client_of(text, options) for text in options.client),
            scopes=tuple(options.scope),
            resources=tuple(options.resource),
            audience=options.audience,
            algorithm=options.algorithm,
            opaque=options.opaque,
            auto_approve=options.auto_approve,
            registration=not options.no_registration,
            loopback_documents=options.loopback_documents,
            dpop_nonce=options.dpop_nonce,
            dev_mint=options.dev_mint,
            faults=tuple(options.fault),
            lifetimes=Lifetimes(access=options.access_lifetime),
        )
    except ValueError as error:
        raise CommandFailed(ExitCode.USAGE, str(error), "see `assay authority --help`") from error


def refuse_open_issuer(options: argparse.Namespace) -> None:
    """Options that issue tokens to every caller are for this machine only."""
    for name in LOCAL_ONLY:
        if getattr(options, name) and options.host not in LOOPBACK:
            problem = (
                f"--{name.replace('_', '-')} would issue tokens to everyone who can reach {options.host}"
            )
            raise CommandFailed(ExitCode.USAGE, problem, f"leave --host at {HOST}")


def client_of(text: str, options: argparse.Namespace) -> Client:
    from assay.authority.client_metadata import redirect_problem
    from assay.authority.record import GRANTS, SECRET_METHODS, Client, digest

    client_id, colon, secret = text.partition(":")
    if not client_id or (colon and not secret):
        raise ValueError("write a client as ID or ID:SECRET")
    redirects = tuple(options.redirect_uri) or ("http://127.0.0.1/callback",)
    for address in redirects:
        if problem := redirect_problem(address):
            raise ValueError(f"--redirect-uri {address}: {problem}")
    return Client(
        id=client_id,
        secret=digest(secret) if secret else "",
        methods=SECRET_METHODS if secret else ("none",),
        name=client_id,
        redirects=redirects,
        grants=GRANTS if secret else tuple(name for name in GRANTS if name != "client_credentials"),
        trusted=bool(secret),
    )


async def until_stopped(
    app: Any, bound: socket.socket, rotate_every: float | None, tls: SSLContext | None
) -> int:
    from assay.transport.http1.server import serve as serve_app
    from assay.transport.http1.stop_signal import StopSignal

    rotating = asyncio.create_task(rotation(app.authority, rotate_every))
    with StopSignal() as stop:
        try:
            await serve_app(app, bound, stop.wait, limits=Limits(), tls=tls)
        except asyncio.CancelledError:
            if not stop.interrupted:
                raise
        finally:
            rotating.cancel()
    with suppress(asyncio.CancelledError):
        await rotating
    return ExitCode.INTERRUPTED if stop.interrupted else ExitCode.OK


async def rotation(authority: Authority, every: float | None) -> None:
    """Rotate the key at SIGHUP, and at intervals if `every` has seconds."""
    requested = asyncio.Event()
    with suppress(AttributeError, NotImplementedError, RuntimeError):  # not every system has the signal
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, requested.set)
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(every):
                await requested.wait()
        requested.clear()
        emit(f"new signing key: {authority.rotate()}\n")
