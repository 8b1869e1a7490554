"""`assay serve --telemetry`: spans and metrics."""

from __future__ import annotations

import argparse
import atexit
import os
from typing import Final
from urllib.parse import urlsplit

from assay import Server
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.model.error import MissingExtra

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"


def add_telemetry(group: argparse._ArgumentGroup) -> None:
    telemetry = "export spans and metrics (OTLP/HTTP); default: as OTEL_EXPORTER_OTLP_ENDPOINT"
    group.add_argument("--telemetry", metavar="URL", nargs="?", const="", help=telemetry)


def use_telemetry(server: Server, options: argparse.Namespace) -> None:
    """Add telemetry to a server. Its last batch is sent when the process ends.

    Raises:
        CommandFailed: the URL cannot be used, or a package is missing.
    """
    if options.telemetry is None and options.profile is not None and os.environ.get(ENDPOINT):
        options.telemetry = ""  # a profile demands spans, and there is somewhere to send them
    if options.telemetry is None:
        return
    url = check_url(options.telemetry) if options.telemetry else None
    try:
        from assay.telemetry.factory import open_telemetry

        about = {"service": server.info.name, "version": server.info.version}
        middleware, close = open_telemetry(url, **about, environment=os.environ)
    except MissingExtra as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error
    atexit.register(close)
    server.use(middleware)


def check_url(text: str) -> str:
    """
    Raises:
        CommandFailed: it is not an HTTP URL.
    """
    try:
        url = urlsplit(text)
        good = url.scheme in ("http", "https") and url.hostname and (url.port is None or url.port > 0)
    except ValueError:
        good = False
    if not good:
        problem = f"--telemetry takes the URL of a collector, and {text!r} is not one"
        raise CommandFailed(ExitCode.USAGE, problem, "give one such as http://localhost:4318")
    return text
