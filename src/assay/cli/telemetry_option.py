"""The option of `assay serve` for spans and metrics."""

from __future__ import annotations

import argparse

from assay import Server

from .exit_code import CommandFailed, ExitCode


def add_telemetry(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--telemetry", metavar="URL", nargs="?", const="", help="export by OTLP over HTTP, there"
    )


def put_telemetry(server: Server, options: argparse.Namespace) -> None:
    if options.telemetry is not None:
        raise CommandFailed(ExitCode.USAGE, "telemetry is to come")
