"""Who is to be judged, from the command line: a target of ours, a URL, a command."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.harness.links.http_call import Address
from assay.lab.harness.subject.bearer import USUAL
from assay.lab.harness.subject.detected import DetectedSubject
from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject, served
from assay.lab.harness.trace.redaction import Redaction
from assay.lab.harness.transport import Transport

from .certificates import identity_of
from .tokens import given_tokens

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def subjects_of(options: argparse.Namespace) -> list[Subject]:
    identity_of(options)  # without a URL, there is nobody to show it to
    if options.target and (options.url or options.command):
        raise CommandFailed(ExitCode.USAGE, "give TARGET, or --url and --command, not both")
    if (options.header or options.bearer or options.authority) and not options.url:
        problem = "headers and tokens are sent to a URL, and there is none"
        raise CommandFailed(ExitCode.USAGE, problem, "give --url, or leave them out")
    transports = [Transport(name) for name in dict.fromkeys(options.transport or ())]
    if options.target:
        return [targeted(options.target, transport) for transport in transports or [Transport.STDIO]]
    if options.url:
        return list(url_subjects(options, transports))
    if options.command:
        return [commanded(options.command, transports)]
    raise CommandFailed(ExitCode.USAGE, "no server to judge", "give TARGET, --url or --command")


def targeted(target: str, transport: Transport) -> Subject:
    if transport is Transport.HTTP_SSE:
        problem = "`assay serve` does not serve HTTP+SSE"
        raise CommandFailed(ExitCode.USAGE, problem, "judge a server that does with --url")
    return served(target, transport)


def commanded(line: str, transports: list[Transport]) -> Subject:
    if transports not in ([], [Transport.STDIO]):
        problem = "a command alone is judged on stdio"
        raise CommandFailed(
            ExitCode.USAGE, problem, "give --url too: the command is started, then reached there"
        )
    return CommandSubject(argv(line))


def url_subjects(options: argparse.Namespace, transports: list[Transport]) -> Iterator[Subject]:
    url: str = options.url
    check_url(url, transports)
    headers = headers_of(options)
    command = argv(options.command) if options.command else None
    identity = identity_of(options)
    if not transports and not url.startswith("ws"):
        yield DetectedSubject(url, headers=headers, command=command, identity=identity)
        return
    for place, transport in enumerate(transports or [Transport.WEBSOCKET]):
        # One process is enough, however it is reached.
        first = None if place else command
        yield UrlSubject(url, transport=transport, headers=headers, command=first, identity=identity)


def check_url(url: str, transports: list[Transport]) -> None:
    try:
        Address.of(url)
    except ValueError as error:
        hint = None if "://" in url else f"write it as http://{url}"
        raise CommandFailed(ExitCode.USAGE, str(error), hint) from error
    if "@" in urlsplit(url).netloc:
        hint = "give them as --bearer TOKEN or --header 'Authorization: …'"
        raise CommandFailed(ExitCode.USAGE, "credentials in a URL are not sent", hint)
    for transport in transports:
        if transport is Transport.STDIO:
            raise CommandFailed(ExitCode.USAGE, "stdio has no URL", "give --command")
        if (transport is Transport.WEBSOCKET) != url.startswith("ws"):
            hint = "ws:// and wss:// are for WebSocket, http:// and https:// for the others"
            raise CommandFailed(ExitCode.USAGE, f"{url} is no URL for {transport}", hint)


def headers_of(options: argparse.Namespace) -> dict[str, str]:
    headers = {}
    for text in options.header:
        name, colon, value = text.partition(":")
        if not colon or not _TOKEN.fullmatch(name.strip()) or _CONTROL.search(text):
            raise CommandFailed(ExitCode.USAGE, f"not a header: {text!r}", "write it as 'Name: value'")
        headers[name.strip()] = value.strip()
    if usual := given_tokens(options).get(USUAL):
        headers["Authorization"] = f"Bearer {usual}"
    return headers


def redaction_of(options: argparse.Namespace) -> Redaction:
    """Whatever the user gave us to be let in with: none of it may be kept."""
    headers = headers_of(options)
    secrets = [*given_tokens(options).values(), *headers.values()]
    secrets += [value.rpartition(" ")[2] for value in headers.values()]  # what follows `Bearer`, `Basic` …
    secrets += [value for _, value in parse_qsl(urlsplit(options.url or "").query)]
    return Redaction(secrets, headers)


def argv(line: str) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CommandFailed(ExitCode.USAGE, f"cannot read the command: {error}") from error
    if not words:
        raise CommandFailed(ExitCode.USAGE, "the command is empty")
    return words
