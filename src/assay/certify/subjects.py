"""The servers that certification judges, each with what can be observed of it beside its messages."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from msgspec import Struct

from assay.lab.access import Credentials
from assay.lab.error import InvalidOptions
from assay.lab.harness.subject.detected import DetectedSubject
from assay.lab.harness.subject.disk import Directories
from assay.lab.harness.subject.otlp import Receiver
from assay.lab.harness.subject.out_of_band import OutOfBand
from assay.lab.harness.subject.subject import CommandSubject, Subject, serve_command, served
from assay.lab.harness.transport import Transport
from assay.lab.options import Evidence
from assay.lab.subjects import as_target, check_url, is_started, url_of
from assay.lab.surroundings import parse_address, receive_spans
from assay.lab.target import Command, Served, Target, Url

from .scoring import SCOPE

DELAY: Final = "100"
"""Milliseconds between two exports of spans. The default of five seconds would slow down every scenario."""

Words = tuple[str, ...]
Targets = Target | str | Sequence[Target | str]


class Start(Struct, frozen=True):
    """How servers are started."""

    scope: frozenset[str] = frozenset(SCOPE)
    wrap: Callable[[Words], Words] = tuple
    """The command to start instead of a given one, on stdio."""
    serve_options: Callable[[Served], Words] = lambda served: ()
    """Further options of `assay serve` on HTTP."""


class ObservedSubject(Struct, frozen=True):
    target: Target
    subject: Subject
    surroundings: OutOfBand


def as_targets(targets: Targets) -> list[Target]:
    """
    Raises:
        InvalidOptions: there is none, one is not a target, or there are two of a kind.
    """
    several = [targets] if isinstance(targets, Url | Command | Served | str) else targets
    known = [as_target(target) for target in several]
    if not known:
        raise InvalidOptions("no server to judge", "give a URL, a command or a Python file")
    if len({type(target) for target in known}) < len(known):
        raise InvalidOptions("several servers of one kind", "give one server: its command, its URL, or both")
    return known


def endpoint(targets: Sequence[Target]) -> str | None:
    """
    Raises:
        InvalidOptions: it is not a URL.
    """
    url = next((url for target in targets if (url := url_of(target))), None)
    if url is not None:
        check_url(url, [Transport.HTTP])
    return url


@asynccontextmanager
async def observed(
    targets: Sequence[Target],
    credentials: Credentials,
    evidence: Evidence,
    entry: Mapping[str, Any] | None,
    start: Start,
) -> AsyncIterator[list[ObservedSubject]]:
    """
    Raises:
        InvalidOptions: spans cannot be received at the address in the options.
    """
    disk = Directories(evidence.observe) if evidence.observe else None
    async with _spans(targets, evidence) as spans:
        with_spans, without = OutOfBand(disk, spans, entry), OutOfBand(disk, None, entry)
        environment = _environment(spans)
        yield [
            # A server that somebody else started sends its spans here only if it was configured to.
            ObservedSubject(target, subject, with_spans if is_started(target) or evidence.otlp else without)
            for target in targets
            for subject in _subjects(target, credentials, environment, start)
        ]


def _subjects(
    target: Target, credentials: Credentials, environment: Mapping[str, str], start: Start
) -> list[Subject]:
    match target:
        case Served(name, options, further):
            variables = {**environment, **further}
            words = serve_command(name, Transport.STDIO, *options)
            more = start.serve_options(target)
            subjects: dict[str, Subject] = {
                "stdio": CommandSubject(start.wrap(words), variables, name=shlex.join(words)),
                "http": served(name, Transport.HTTP, *options, *more, environment=variables),
            }
            return [subjects[transport] for transport in SCOPE if transport in start.scope]
        case Command(words):
            return [CommandSubject(start.wrap(words), environment, name=shlex.join(words))]
        case Url(url):
            return [DetectedSubject(url, headers=credentials.headers, identity=credentials.identity)]


def commands_of(targets: Sequence[Target]) -> dict[Transport, Words]:
    """How the lab starts the server, by transport."""
    commands: dict[Transport, Words] = {}
    for target in targets:
        match target:
            case Served(name, options):
                for transport in (Transport.STDIO, Transport.HTTP):
                    commands[transport] = serve_command(name, transport, *options)
            case Command(words):
                commands[Transport.STDIO] = tuple(words)
    return commands


@asynccontextmanager
async def _spans(targets: Sequence[Target], evidence: Evidence) -> AsyncIterator[Receiver | None]:
    """A receiver of spans, if the server can be configured to use it."""
    if not evidence.otlp and not any(map(is_started, targets)):
        yield None
        return
    async with receive_spans(evidence.otlp) as receiver:
        yield receiver


def _environment(spans: Receiver | None) -> dict[str, str]:
    """Variables that the SDKs of OpenTelemetry read."""
    if spans is None:
        return {}
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": spans.endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_BSP_SCHEDULE_DELAY": DELAY,
    }


def check_otlp(evidence: Evidence) -> None:
    """
    Raises:
        InvalidOptions: the address is not one.
    """
    if evidence.otlp is not None:
        parse_address(evidence.otlp)
