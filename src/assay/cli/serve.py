"""Serve an MCP server: your own or a bundled one.

examples:
  assay serve server.py                               on stdio: the client starts this command
  assay serve server.py:name --transport http         at http://localhost:3000/mcp
  assay serve package.module --transport ws           at ws://localhost:3000/mcp/ws
  assay serve reference --transport http              a server with every capability, to try a client on
  assay serve server.py:make_server -- --db notes.db  a function that returns a server, and its arguments
  assay serve server.py --transport http --store sqlite:///state.db     sessions survive a restart
  assay serve server.py --transport http --auth issuer=https://id.example,audience=https://api.example/mcp

TARGET is
  path/to/file.py[:name]  a variable of a Python file, or a function that returns a server
  package.module[:name]   the same of a module; the current directory is searched, too
  everything              the bundled server that conformance suites expect
  reference               the bundled server to test clients with
Without a name it is the variable `server`, or the only server there. A function, which may be async, gets the
words after `--` as a list if it takes a parameter. They are also in sys.argv.

http, http-plain and ws all accept HTTP and WebSocket connections. They differ in the endpoint that they
print, and http-plain sends no event streams. With --auth, clients need a token of the issuer for the
audience, which is the URL of the endpoint as clients know it. With --profile, the server follows a
marketplace's profile: results are tagged, effects declared, batches refused and manifests served.
With --sandbox, the server has no network but the socket that it listens on, can read only its own files, and
can write only to a directory that is removed at its end: see docs/sandbox.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from assay import Server
from assay.cli.options.auth import make_auth
from assay.cli.options.profile import add_profile, use_profile
from assay.cli.options.python_server import REFERENCE, load_server
from assay.cli.options.sandbox import add_sandbox, open_sandbox, without_sandbox
from assay.cli.options.seed import add_seeds, use_seeds
from assay.cli.options.telemetry import add_telemetry, use_telemetry
from assay.cli.options.value import network, port, seconds
from assay.cli.options.workers import add_operations, add_workers, supervise, use_operations
from assay.cli.output.stream import emit_lines, say
from assay.model.error import CannotListen, MissingExtra, RegistrationError, StoreError, TlsError
from assay.protocol.http.policy import LOOPBACK
from assay.server.runner import OTHER_NAMES, run
from assay.transport.workers.command import is_worker

from .exit_code import CommandFailed, ExitCode
from .parser import Misplaced, Parser

if TYPE_CHECKING:
    from assay.sandbox import Sandbox

SUMMARY = "serve your MCP server, or a bundled one, on stdio, HTTP or WebSocket"
GROUP = "build and serve"
USAGE = "TARGET [options] [-- ARGUMENT …]"
LISTENING: Final = ("http", "http-plain", "ws")
HOST: Final = "127.0.0.1"
PORT: Final = 3000
TLS: Final = ("tls_cert", "tls_key", "tls_client_ca")
FOR_REFERENCE: Final = ("root", "strict", "seed_compat")
PASSED_ON: Final = ("heartbeat", "workers", "worker_timeout", "access_log")
NETWORK: Final = (
    *("host", "port", "allow_host", "allow_origin", "trusted_proxy", "auth", "heartbeat"),
    *("workers", "worker_timeout", "access_log", "metrics"),
)
OF_CHECK: Final = ("--url", "--command", "--suite", "--scenario")


def configure(parser: Parser) -> None:
    parser.takes_command = True
    add = parser.add_argument_group("server").add_argument
    add("target", metavar="TARGET", help="path.py[:name], package.module[:name], everything or reference")
    add(
        "--spec-version",
        action="append",
        metavar="DATE",
        help="serve only this protocol revision; repeatable",
    )
    add("--root", metavar="DIR", help="reference: serve and watch this directory, too")
    add("--strict", action="store_true", help="reference: the strictest reading of the specification")
    seed = "reference: rules of its first design that contradict the specification"
    add("--seed-compat", action="store_true", help=seed)
    store = "for sessions, events and tasks: sqlite:///FILE, redis://HOST/0; default: memory"
    add("--store", metavar="URL", help=store)
    debug = "for development: clients get the exceptions of handlers, with tracebacks"
    add("--debug", action="store_true", help=debug)
    _add_listening(parser.add_argument_group("transport"))
    add_workers(parser.add_argument_group("workers"))
    add_operations(parser.add_argument_group("operation"))
    _add_protection(parser.add_argument_group("protection"))
    add_profile(parser.add_argument_group("marketplace profile"))
    add_telemetry(parser.add_argument_group("telemetry"))
    add_seeds(parser.add_argument_group("replay"))
    add_sandbox(parser.add_argument_group("sandbox"))
    for option in OF_CHECK:
        hint = "it is an option of `assay check`, which judges a server; this command serves one"
        parser.add_argument(option, action=Misplaced, hint=hint)


def transport(name: str) -> str:
    if name in OTHER_NAMES:
        raise argparse.ArgumentTypeError(f"{name!r} has another name: {OTHER_NAMES[name]}")
    return name


def _add_listening(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    transports = ("stdio", *LISTENING)
    names = f"{', '.join(transports)}; default: stdio"
    add("--transport", type=transport, choices=transports, default="stdio", metavar="T", help=names)
    add("--host", help=f"address to listen on; default: {HOST}")
    add("--port", type=port, help=f"port to listen on, 0 for any free one; default: {PORT}")
    add(
        "--heartbeat",
        type=seconds,
        metavar="S",
        help="seconds of silence between comments on a stream; default: 15",
    )


def _add_protection(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    auth = "require a token; also jwks=URL|FILE and scopes=A,B: see docs/protect.md"
    add("--auth", metavar="issuer=URL,audience=URL", help=auth)
    host = "accept this Host header, too, or `*` for any; repeatable"
    add("--allow-host", metavar="H", action="append", help=host)
    origin = "accept this Origin header, too, or `*` for any; repeatable"
    add("--allow-origin", metavar="O", action="append", help=origin)
    proxy = "believe X-Forwarded-For or Forwarded of this address or network; repeatable"
    add("--trusted-proxy", type=network, metavar="A", action="append", help=proxy)
    add("--tls-cert", metavar="FILE", help="use TLS, with this certificate (PEM)")
    add("--tls-key", metavar="FILE", help="its private key, unless it is in the same file")
    add("--tls-client-ca", metavar="FILE", help="require a client certificate of these authorities (PEM)")


def execute(options: argparse.Namespace) -> int:
    sandbox = open_sandbox(options)
    if sandbox is not None:
        return serve_inside(sandbox, options)
    if options.transport in LISTENING:
        if options.workers is not None and not is_worker():
            return supervised(options)
        listen(chosen_server(options), options)
    else:
        refuse_network_options(options)
        server = chosen_server(options)
        if sys.stdin.isatty():
            say(f"{title(server)} waits for JSON-RPC on standard input; Ctrl-D ends it")
            say(f"  for HTTP: assay serve {options.target} --transport http")
        run(server, "stdio")
    return ExitCode.OK


def supervised(options: argparse.Namespace) -> int:
    """Run workers, which run this command again: this process does not load the server."""
    host, number = options.host or HOST, PORT if options.port is None else options.port
    try:
        return supervise(options, host, number)
    except CannotListen as error:
        raise cannot_listen(error) from error


def serve_inside(sandbox: Sandbox, options: argparse.Namespace) -> int:
    """Run this command again in the sandbox; a socket to listen on is opened here, outside."""
    from assay.sandbox.child import run_child

    words = (sys.executable, "-m", "assay", "serve", *without_sandbox(options.argument_words))
    if options.transport not in LISTENING:
        return run_child(sandbox.command(words))
    from assay.transport.http1.listening import listen as open_listener

    host, number = options.host or HOST, PORT if options.port is None else options.port
    try:
        with open_listener(host, number) as listener:
            descriptor = listener.fileno()
            return run_child(sandbox.command(words, listener=descriptor), pass_fds=[descriptor])
    except CannotListen as error:
        raise cannot_listen(error) from error


def cannot_listen(error: CannotListen) -> CommandFailed:
    others = "choose another with --port, or --port 0 for any"
    hint = others if error.is_taken else "choose others with --host and --port"
    return CommandFailed(ExitCode.NOT_STARTED, str(error), hint)


def chosen_server(options: argparse.Namespace) -> Server:
    settings = {name: getattr(options, name) for name in FOR_REFERENCE if getattr(options, name)}
    if settings and options.target != REFERENCE:
        option = next(iter(settings)).replace("_", "-")
        problem = f"--{option} is an option of the bundled server `{REFERENCE}`"
        raise CommandFailed(ExitCode.USAGE, problem, f"leave it out: {options.target} has no such option")
    server = load_server(options.target, options.command_words, **settings)
    if options.spec_version:
        serve_only(server, options.spec_version)
    server.watch_loop = True
    use_operations(server, options)
    if options.debug:
        server.debug = True
        say("debug mode: clients get exceptions with tracebacks; not for production")
    use_store(server, options.store)
    use_seeds(server, options)
    use_telemetry(server, options)
    use_profile(server, options)
    return server


def use_store(server: Server, url: str | None) -> None:
    source = "--store" if url is not None else "ASSAY_STORE"
    url = url or os.environ.get("ASSAY_STORE")
    if not url:
        return
    try:
        server.use_store(url)
    except StoreError as error:
        raise CommandFailed(ExitCode.USAGE, f"{source}: {error.problem}", error.fix) from error


def serve_only(server: Server, dates: list[str]) -> None:
    try:
        server.serve_only(dates)
    except RegistrationError as error:
        problem, _, hint = str(error).partition("; ")
        raise CommandFailed(ExitCode.USAGE, f"--spec-version: {problem}", hint) from error


def refuse_network_options(options: argparse.Namespace) -> None:
    for name in (*NETWORK, *TLS):
        if getattr(options, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise CommandFailed(ExitCode.USAGE, f"{option} has no effect on stdio", "add --transport http")


def listen(server: Server, options: argparse.Namespace) -> None:
    host = options.host or HOST
    number = PORT if options.port is None else options.port
    if options.auth is not None:
        server.auth = make_auth(options.auth, title(server))
    try:
        run(
            server,
            options.transport,
            host=host,
            port=number,
            allowed_hosts=allowed_hosts(host, options.allow_host or []),
            allowed_origins=tuple(options.allow_origin or ()),
            trusted_proxies=tuple(options.trusted_proxy or ()),
            announce=announcer(server),
            **{name: value for name in PASSED_ON if (value := getattr(options, name)) is not None},
            **{name: path for name in TLS if (path := getattr(options, name)) is not None},
        )
    except TlsError as error:
        hint = "--tls-cert, --tls-key and --tls-client-ca name PEM files"
        raise CommandFailed(ExitCode.USAGE, str(error), hint) from error
    except CannotListen as error:
        raise cannot_listen(error) from error
    except MissingExtra as error:
        raise CommandFailed(ExitCode.NOT_STARTED, str(error)) from error


def allowed_hosts(host: str, added: list[str]) -> tuple[str, ...]:
    """Loopback names, the address to listen on (else our own URL would be refused), and the user's."""
    own = f"[{host}]" if ":" in host else host
    return tuple(dict.fromkeys((*LOOPBACK, own, *added)))


def announcer(server: Server) -> Callable[[str], None]:
    def announce(url: str) -> None:
        base = url.removesuffix(urlsplit(url).path)
        protection = ["  - requires a bearer token"] if server.auth is not None else []
        lines = [f"{title(server)} running on {base}", f"  - MCP endpoint: {url}", *protection]
        emit_lines(lines)

    return announce


def title(server: Server) -> str:
    return server.info.title or server.info.name
