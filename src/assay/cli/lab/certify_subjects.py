"""The servers that `assay certify` judges, each with what can be seen of it beside its messages."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from msgspec import Struct

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.harness.subject.detected import DetectedSubject
from assay.lab.harness.subject.disk import Directories
from assay.lab.harness.subject.otlp import Receiver
from assay.lab.harness.subject.out_of_band import OutOfBand
from assay.lab.harness.subject.subject import CommandSubject, Subject, served
from assay.lab.harness.transport import Transport

from .beside import address, spans_at
from .certificates import identity_of
from .subjects import argv, check_url, headers_of

DELAY: Final = "100"
"""Milliseconds between two exports of a server that we start: nobody wants to wait five seconds for each."""


class Judged(Struct, frozen=True):
    subject: Subject
    surroundings: OutOfBand


def check_subject(options: argparse.Namespace) -> None:
    """
    Raises:
        CommandFailed: there is no server, or two that do not go together.
    """
    if options.target and (options.url or options.command):
        raise CommandFailed(ExitCode.USAGE, "give TARGET, or -e and --stdio, not both")
    if not (options.target or options.url or options.command):
        raise CommandFailed(ExitCode.USAGE, "no server to judge", "give TARGET, -e URL or --stdio LINE")
    if (options.header or options.bearer or options.authority) and not options.url:
        problem = "headers and tokens are sent to a URL, and there is none"
        raise CommandFailed(ExitCode.USAGE, problem, "give -e URL, or leave them out")
    if options.url:
        check_url(options.url, [Transport.HTTP])
    argv(options.target or options.command or "-")
    if options.otlp is not None:
        address(options.otlp)


@asynccontextmanager
async def all_judged(
    options: argparse.Namespace, entry: Mapping[str, Any] | None
) -> AsyncIterator[list[Judged]]:
    """
    Raises:
        CommandFailed: spans were asked for, and cannot be received.
    """
    seen = OutOfBand(disk=Directories(options.observe) if options.observe else None, registry=entry)
    async with _spans(options) as spans:
        with_spans = OutOfBand(seen.disk, spans, seen.registry)
        ours = [Judged(one, with_spans) for one in _started(options, _told(spans))]
        # A server that somebody else has started sends its spans here only if it was told to.
        theirs = [Judged(one, with_spans if options.otlp else seen) for one in _reached(options)]
        yield [*ours, *theirs]


def _started(options: argparse.Namespace, environment: Mapping[str, str]) -> list[Subject]:
    if options.target:
        name, *more = argv(options.target)
        both = (Transport.STDIO, Transport.HTTP)
        return [served(name, transport, *more, environment=environment) for transport in both]
    return [CommandSubject(argv(options.command), environment)] if options.command else []


def _reached(options: argparse.Namespace) -> list[Subject]:
    identity = identity_of(options)
    return (
        [DetectedSubject(options.url, headers=headers_of(options), identity=identity)] if options.url else []
    )


@asynccontextmanager
async def _spans(options: argparse.Namespace) -> AsyncIterator[Receiver | None]:
    """A receiver, where it can be told to the server."""
    if not (options.otlp or options.command or options.target):
        yield None
        return
    async with spans_at(options.otlp) as receiver:
        yield receiver


def _told(spans: Receiver | None) -> dict[str, str]:
    """What the SDKs of OpenTelemetry read."""
    if spans is None:
        return {}
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": spans.endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_BSP_SCHEDULE_DELAY": DELAY,
    }
