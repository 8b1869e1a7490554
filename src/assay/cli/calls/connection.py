"""Options of the commands that call a server: which one, how to reach it, and as which client."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.options.sandbox import add_sandbox, open_sandbox
from assay.cli.options.value import seconds
from assay.cli.output.stream import say
from assay.cli.parser import Parser
from assay.model.error import InvalidTarget
from assay.transport.target import Command, Served, Url, parse_command, parse_target

from .authorization import OF_OAUTH, add_oauth, auth_from

if TYPE_CHECKING:
    import ssl

    from assay.client.stdio import Stdio

TARGET: Final = "a URL, server.py[:name], module:name, everything, a quoted command, or mcp.json"
TOKEN: Final = "ASSAY_TOKEN"
LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
LOOPBACK: Final = (
    "http://localhost",
    "http://127.",
    "http://[::1]",
    "ws://localhost",
    "ws://127.",
    "ws://[::1]",
)


class Connection(NamedTuple):
    """A server, and the options of the `Client` that calls it."""

    target: str | Stdio | Path
    """A path is that of a configuration."""
    client: Mapping[str, Any]


def add_words(parser: Parser, usage: str, text: str) -> argparse._ArgumentGroup:
    """TARGET, and the words after it. If a command follows `--`, all words are those after TARGET."""
    parser.takes_command = True
    group = parser.add_argument_group("server")
    group.add_argument("words", metavar=usage, nargs="*", help=text)
    return group


def add_connection(parser: Parser, usage: str = "TARGET", text: str = TARGET) -> None:
    group = add_words(parser, usage, text)
    add = group.add_argument
    add("--header", action="append", default=[], metavar="'N: V'", help="send with every request; repeatable")
    add("--token", metavar="TOKEN", help=f"send as `Authorization: Bearer`; default: the variable {TOKEN}")
    add_oauth(group)
    add("--ca", type=Path, metavar="FILE", help="authorities that signed the server's certificate (PEM)")
    add("--client-cert", type=Path, metavar="FILE", help="certificate of the client, for mutual TLS (PEM)")
    add("--client-key", type=Path, metavar="FILE", help="its private key, unless it is in the same file")
    add("--proxy", metavar="URL", help="connect through this proxy; default: the variable HTTPS_PROXY")
    add("--revision", metavar="DATE", help="use this protocol revision; default: the newest of both sides")
    add("--timeout", type=seconds, default=60.0, metavar="S", help="seconds for one answer; default: 60")
    add_sandbox(parser.add_argument_group("sandbox, for a server that is a command"))


def split_words(options: argparse.Namespace, names: Sequence[str] = ()) -> tuple[str | None, list[str]]:
    """TARGET, unless a command follows `--`, and the other words. `names` are those that must be there.

    Raises:
        CommandFailed: a word is missing.
    """
    words: list[str] = list(options.words)
    target: str | None = None
    if options.command_words is None:
        if not words:
            hint = "give a URL, a Python file, or a command after `--`"
            raise CommandFailed(ExitCode.USAGE, "no server to call", hint)
        target = words.pop(0)
    if len(words) < len(names):
        order = " ".join(["TARGET", *(name.upper() for name in names)])
        raise CommandFailed(ExitCode.USAGE, f"no {names[len(words)]} given", f"the order is {order}")
    return target, words


def refuse_more(words: Sequence[str]) -> None:
    """
    Raises:
        CommandFailed: there is a word too many.
    """
    if words:
        hint = "a command with arguments is quoted, or follows `--`"
        raise CommandFailed(ExitCode.USAGE, f"unexpected argument: {words[0]}", hint)


def connection_from(options: argparse.Namespace, text: str | None) -> Connection:
    """
    Raises:
        CommandFailed: options do not go together, or cannot be used.
        InvalidTarget: the text is not a URL, a server or a command.
    """
    target = _client_target(text) if text is not None else _stdio(_command(options))
    if not isinstance(target, str):
        _refuse_http_options(options)
        return Connection(_sandboxed(target, options), _common(options))
    _refuse_sandbox(options, "a server at a URL runs elsewhere")
    auth = auth_from(options)
    http = {"headers": _headers(options, target), "tls": _tls(options), "auth": auth, "proxy": options.proxy}
    return Connection(target, {**_common(options), **http})


def _sandboxed(target: Stdio | Path, options: argparse.Namespace) -> Stdio | Path:
    """
    Raises:
        CommandFailed: a configuration names the commands.
        SandboxUnavailable: the host does not allow the level.
    """
    if isinstance(target, Path):
        _refuse_sandbox(options, "a configuration may have several servers")
        return target
    sandbox = open_sandbox(options)
    return target if sandbox is None else _stdio(sandbox.command(target.command))


def _refuse_sandbox(options: argparse.Namespace, reason: str) -> None:
    if options.sandbox is not None:
        raise CommandFailed(
            ExitCode.USAGE, f"--sandbox is for a command: {reason}", "give the server's command"
        )


def _command(options: argparse.Namespace) -> tuple[str, ...]:
    return parse_command(shlex.join(options.command_words))


def _client_target(text: str) -> str | Stdio | Path:
    if text.endswith(".json") and "://" not in text:
        if Path(text).is_file():
            return Path(text)
        if " " not in text:
            raise InvalidTarget(f"no such file: {text}", "give the path of a configuration with mcpServers")
    match parse_target(text):
        case Url(url):
            return url
        case Command(words):
            return _stdio(words)
        case Served(name, options):
            # In its own process, as clients start it: what it prints cannot mix with our output.
            return _stdio((sys.executable, "-m", "assay", "serve", name, *options))


def _stdio(words: Sequence[str]) -> Stdio:
    from assay.client.stdio import Stdio

    # The user's own command in the user's own shell: it gets the variables that are set there.
    return Stdio(*words, inherit_env=True)


def _common(options: argparse.Namespace) -> dict[str, Any]:
    return {"revision": options.revision, "timeout": options.timeout}


def _refuse_http_options(options: argparse.Namespace) -> None:
    for name in ("header", "token", "oauth", *OF_OAUTH, "ca", "client_cert", "client_key", "proxy"):
        if getattr(options, name):
            option = f"--{name.replace('_', '-')}"
            hint = "leave it out; a command gets the variables of this shell, and mcp.json may have headers"
            raise CommandFailed(ExitCode.USAGE, f"{option} is for a server at a URL", hint)


def _headers(options: argparse.Namespace, url: str) -> dict[str, str]:
    headers = {}
    for line in options.header:
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise CommandFailed(ExitCode.USAGE, "a --header has no name", "write it as 'Name: value'")
        headers[name.strip()] = value.strip()
    token = options.token or (None if options.oauth else os.environ.get(TOKEN))
    if token:
        if any(name.lower() == "authorization" for name in headers):
            hint = f"leave out --token and the variable {TOKEN}, or the header"
            raise CommandFailed(ExitCode.USAGE, "both a token and an Authorization header", hint)
        headers["Authorization"] = f"Bearer {token}"
        if url.startswith(("http://", "ws://")) and not url.startswith(LOOPBACK):
            say("warning: the token is sent without encryption; use https://")
    return headers


def _tls(options: argparse.Namespace) -> ssl.SSLContext | None:
    if options.client_key and not options.client_cert:
        raise CommandFailed(
            ExitCode.USAGE, "--client-key is given without --client-cert", "add --client-cert"
        )
    if not (options.ca or options.client_cert):
        return None
    import ssl

    try:
        context = ssl.create_default_context(cafile=options.ca)
        if options.client_cert:
            context.load_cert_chain(options.client_cert, options.client_key)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = "--ca, --client-cert and --client-key name PEM files"
        raise CommandFailed(ExitCode.USAGE, f"cannot use the certificates: {reason}", hint) from error
    return context
