"""Serve an MCP server: your own or a bundled one.

TARGET is one of
  everything              the bundled server that conformance suites expect
  reference               the bundled server to test clients with: every capability, data that changes
  path/to/file.py[:name]  a variable of a file
  package.module[:name]   a variable of a module, the current directory included
Without a name it is the variable `server`, or the only server there.

On stdio, the default, the client starts this command and talks to it through its standard streams.
On http and http-plain (no event streams) the endpoint is http://localhost:<port>/mcp.
On ws it is ws://localhost:<port>/mcp/ws. All three listen for WebSockets, and for HTTP; they differ in what
they announce, and http-plain in what it sends.

With --auth they serve only who shows a token of the issuer for the audience: the URL by which clients
know the endpoint. The issuer's keys are found by its metadata, or are given as jwks: a URL or a file.

With --profile any server keeps to a marketplace's profile: results are tagged, effects told, batches refused,
manifests served; with --ledger calls are written down. With --telemetry it exports spans and metrics.
"""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Callable
from typing import Any, NoReturn
from urllib.parse import urlsplit

from assay import Server
from assay.model.error import MissingExtra, TlsError
from assay.protocol.http.policy import LOOPBACK

from .auth_option import make_auth
from .exit_code import CommandFailed, ExitCode
from .profile_option import add_profile, put_profile
from .target import REFERENCE, load_server
from .telemetry_option import add_telemetry, put_telemetry

SUMMARY = "serve an MCP server on stdio, HTTP or WebSocket: your own file, `everything` or `reference`"
LISTENING = ("http", "http-plain", "ws")
HOST = "127.0.0.1"
PORT = 3000
TLS = ("tls_cert", "tls_key", "tls_client_ca")
FOR_REFERENCE = ("root", "strict")
FOR_JUDGING = ("--url", "--command", "--suite", "--scenario", "--spec-version")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", metavar="TARGET", help="everything, reference, path.py[:name] or package.module[:name]")
    add("--transport", choices=("stdio", *LISTENING), default="stdio", help="default: stdio")
    add("--host", help=f"address to listen on; default: {HOST}")
    add("--port", type=port, help=f"port to listen on, 0 for any free one; default: {PORT}")
    add("--allow-host", metavar="H", action="append", help="accept this Host too, or `*` for any; repeatable")
    add(
        "--allow-origin",
        metavar="O",
        action="append",
        help="accept this Origin too, or `*` for any; repeatable",
    )
    add(
        "--auth",
        metavar="issuer=URL,audience=URL[,jwks=URL|FILE][,scopes=A,B]",
        help="serve only who shows a token of this issuer for this audience",
    )
    add("--tls-cert", metavar="FILE", help="speak TLS, with this certificate (PEM)")
    add("--tls-key", metavar="FILE", help="its private key, unless it is in the same file")
    add("--tls-client-ca", metavar="FILE", help="serve only who shows a certificate of these authorities")
    add("--root", metavar="DIR", help="reference: serve and watch this folder too")
    add("--strict", action="store_true", help="reference: insist on more than the specification does")
    add("--heartbeat", type=seconds, metavar="S", help="seconds of silence between comments on a stream; 15")
    add_profile(parser.add_argument_group("a marketplace's profile"))
    add_telemetry(parser.add_argument_group("telemetry"))
    for option in FOR_JUDGING:
        add(option, action=Misplaced, help=argparse.SUPPRESS)


def port(text: str) -> int:
    """A port number, for argparse, which names this function when the text is none."""
    if not text.isdecimal() or int(text) > 65535:
        raise ValueError
    return int(text)


def seconds(text: str) -> float:
    """A time, for argparse, which names this function when the text is none."""
    if not 0 < float(text) < 3600:
        raise ValueError
    return float(text)


class Misplaced(argparse.Action):
    """An option of `assay server`, whose name differs from this command's by one letter."""

    def __init__(self, option_strings: list[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs="?", **options)

    def __call__(self, *given: Any) -> NoReturn:
        problem = f"{self.option_strings[0]} is an option of `assay server`"
        hint = "`assay serve` serves a server; `assay server` judges one"
        raise CommandFailed(ExitCode.USAGE, problem, hint)


def execute(options: argparse.Namespace) -> int:
    if options.transport in LISTENING:
        listen(chosen_server(options), options)
    else:
        refuse_options_of_listeners(options)
        server = chosen_server(options)
        if sys.stdin.isatty():
            print(f"{called(server)} waits for JSON-RPC on standard input; Ctrl-D ends it", file=sys.stderr)
            print(f"  for HTTP: assay serve {options.target} --transport http", file=sys.stderr)
        server.run("stdio")
    return ExitCode.OK


def chosen_server(options: argparse.Namespace) -> Server:
    made = {name: getattr(options, name) for name in FOR_REFERENCE if getattr(options, name)}
    if made and options.target != REFERENCE:
        problem = f"--{next(iter(made))} is an option of the bundled server `{REFERENCE}`"
        hint = f"`assay serve {REFERENCE} --help` tells of it; {options.target} has no such option"
        raise CommandFailed(ExitCode.USAGE, problem, hint)
    server = load_server(options.target, **made)
    put_telemetry(server, options)
    put_profile(server, options)
    return server


def refuse_options_of_listeners(options: argparse.Namespace) -> None:
    for name in ("host", "port", "allow_host", "allow_origin", "auth", "heartbeat", *TLS):
        if getattr(options, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise CommandFailed(ExitCode.USAGE, f"stdio has no use for {option}", "add --transport http")


def listen(server: Server, options: argparse.Namespace) -> None:
    host = options.host or HOST
    number = PORT if options.port is None else options.port
    if options.auth is not None:
        server.auth = make_auth(options.auth, called(server))
    try:
        server.run(
            options.transport,
            host=host,
            port=number,
            allowed_hosts=allowed_hosts(host, options.allow_host or []),
            allowed_origins=tuple(options.allow_origin or ()),
            announce=announcer(server),
            **({} if options.heartbeat is None else {"heartbeat": options.heartbeat}),
            **{name: given for name in TLS if (given := getattr(options, name)) is not None},
        )
    except TlsError as error:
        raise CommandFailed(
            ExitCode.USAGE, str(error), "--tls-cert, --tls-key and --tls-client-ca name PEM files"
        ) from error
    except OSError as error:
        raise not_listening(error, host, number) from error
    except MissingExtra as error:
        raise CommandFailed(ExitCode.NOT_STARTED, str(error)) from error


def allowed_hosts(host: str, added: list[str]) -> tuple[str, ...]:
    """Loopback names, the address listened on, and what the user adds: else our own URL would be refused."""
    own = f"[{host}]" if ":" in host else host
    return tuple(dict.fromkeys((*LOOPBACK, own, *added)))


def announcer(server: Server) -> Callable[[str], None]:
    def announce(url: str) -> None:
        base = url.removesuffix(urlsplit(url).path)
        protection = ["  - only for who shows a token"] if server.auth is not None else []
        lines = [f"{called(server)} running on {base}", f"  - MCP endpoint: {url}", *protection]
        print(*lines, sep="\n", flush=True)

    return announce


def called(server: Server) -> str:
    return server.info.title or server.info.name


def not_listening(error: OSError, host: str, number: int) -> CommandFailed:
    if error.errno == errno.EADDRINUSE:
        problem = f"port {number} is in use on {host}"
        return CommandFailed(ExitCode.NOT_STARTED, problem, "choose another with --port, or --port 0 for any")
    reason = error.strerror or str(error)
    problem = f"cannot listen on {host}, port {number}: {reason}"
    return CommandFailed(ExitCode.NOT_STARTED, problem, "choose others with --host and --port")
