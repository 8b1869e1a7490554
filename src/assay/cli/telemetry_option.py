"""The option of `assay serve` for spans and metrics."""

from __future__ import annotations

import argparse
import atexit
import os
from urllib.parse import urlsplit

from assay import Server
from assay.model.error import MissingExtra

from .exit_code import CommandFailed, ExitCode


def add_telemetry(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--telemetry",
        metavar="URL",
        nargs="?",
        const="",
        help="export spans and metrics to the OTLP/HTTP collector at this URL, as http://localhost:4318; "
        "without one, as OTEL_EXPORTER_OTLP_ENDPOINT and its kin say",
    )


def put_telemetry(server: Server, options: argparse.Namespace) -> None:
    """Put telemetry around a server; what is left of it is sent when the process ends.

    Raises:
        CommandFailed: the URL is none, or a package is missing.
    """
    if options.telemetry is None:
        return
    url = check_url(options.telemetry) if options.telemetry else None
    try:
        from assay.telemetry.factory import open_telemetry

        about = {"service": server.info.name, "version": server.info.version}
        layer, close = open_telemetry(url, **about, environment=os.environ)
    except MissingExtra as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error
    atexit.register(close)
    server.use(layer)


def check_url(text: str) -> str:
    """
    Raises:
        CommandFailed: it is no URL of a collector.
    """
    try:
        url = urlsplit(text)
        good = url.scheme in ("http", "https") and url.hostname and (url.port is None or url.port > 0)
    except ValueError:
        good = False
    if not good:
        problem = f"--telemetry takes the URL of a collector: {text!r} is none"
        raise CommandFailed(ExitCode.USAGE, problem, "give one such as http://localhost:4318")
    return text
