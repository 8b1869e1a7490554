"""The subjects of a target, one for each transport."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from assay.lab.harness.links.broken_off import BrokenOff, Gone, NoToken, NotRunnable
from assay.lab.harness.links.http_call import Address
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.subject.detected import DetectedSubject
from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject, served
from assay.lab.harness.transport import Transport

from .access import Credentials, no_token
from .error import CannotJudge, InvalidOptions, LabError, SubjectNotStarted
from .target import Command, Served, Target, Url, parse_target


def as_target(target: Target | str) -> Target:
    """
    Raises:
        InvalidOptions: the text is not a target.
    """
    return parse_target(target) if isinstance(target, str) else target


def url_of(target: Target) -> str | None:
    return target.url if isinstance(target, Url) else None


def subjects_of(target: Target, transports: Iterable[str], credentials: Credentials) -> list[Subject]:
    """
    Raises:
        InvalidOptions: the target does not serve that transport.
    """
    chosen = [_transport(name) for name in dict.fromkeys(transports)]
    match target:
        case Served():
            return [_served(target, transport) for transport in chosen or [Transport.STDIO]]
        case Command(words):
            return [_commanded(words, chosen)]
        case Url():
            return list(_url_subjects(target, chosen, credentials))


def _transport(name: str) -> Transport:
    try:
        return Transport(name)
    except ValueError:
        raise InvalidOptions(f"unknown transport: {name}", f"one of {', '.join(Transport)}") from None


def _served(target: Served, transport: Transport) -> Subject:
    if transport is Transport.HTTP_SSE:
        fix = "judge a server that does at its URL"
        raise InvalidOptions("`assay serve` does not serve HTTP+SSE", fix)
    return served(target.name, transport, *target.options, environment=target.environment)


def _commanded(words: Sequence[str], transports: list[Transport]) -> Subject:
    if transports not in ([], [Transport.STDIO]):
        problem = "a command alone is judged on stdio"
        raise InvalidOptions(problem, "give --url too: the command is started, then reached there")
    return CommandSubject(words)


def _url_subjects(target: Url, transports: list[Transport], credentials: Credentials) -> Iterator[Subject]:
    url, command = target.url, target.command or None
    check_url(url, transports)
    headers, identity = credentials.headers, credentials.identity
    if not transports and not url.startswith("ws"):
        yield DetectedSubject(url, headers=headers, command=command, identity=identity)
        return
    for place, transport in enumerate(transports or [Transport.WEBSOCKET]):
        # One process serves all transports.
        first = None if place else command
        yield UrlSubject(url, transport=transport, headers=headers, command=first, identity=identity)


def check_url(url: str, transports: Iterable[Transport]) -> None:
    """
    Raises:
        InvalidOptions: it is not a URL, holds credentials, or does not fit a transport.
    """
    try:
        Address.of(url)
    except ValueError as error:
        raise InvalidOptions(str(error), "" if "://" in url else f"write it as http://{url}") from error
    if "@" in urlsplit(url).netloc:
        fix = "give them as --bearer TOKEN or --header 'Authorization: …'"
        raise InvalidOptions("credentials in a URL are not sent", fix)
    for transport in transports:
        if transport is Transport.STDIO:
            raise InvalidOptions("stdio has no URL", "give the command of the server")
        if (transport is Transport.WEBSOCKET) != url.startswith("ws"):
            fix = "ws:// and wss:// are for WebSocket, http:// and https:// for the others"
            raise InvalidOptions(f"{url} is not a URL for {transport}", fix)


def is_started(target: Target) -> bool:
    """Whether the lab starts the server, and so starts it anew for every run."""
    return not isinstance(target, Url) or bool(target.command)


def not_there(down: SubjectDown, target: Target) -> LabError:
    """A server that is not there, or closes at once, did not start; a silent one cannot be judged."""
    reason: BrokenOff = down.reason
    if isinstance(reason, NoToken):
        return no_token(reason)
    if not isinstance(reason, Gone):
        fix = "does it speak MCP there? a slow server gets more time with --timeout"
        return CannotJudge(str(down), fix)
    if isinstance(reason, NotRunnable):
        fix = "is it installed, and in a directory of PATH? a path to the program works, too"
    elif is_started(target):
        fix = "run it by hand to see its output"
    else:
        fix = "is it running? is the URL right?"
    return SubjectNotStarted(str(down), fix)
