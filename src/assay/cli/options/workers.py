"""`assay serve --workers`, and what operators see of a server: access log, numbers, more lines."""

from __future__ import annotations

import argparse
import logging
import os
from typing import TYPE_CHECKING, Final

from assay.cli.output.stream import say
from assay.transport.workers.plan import MOST, STUCK

from .value import seconds

if TYPE_CHECKING:
    from assay import Server

LEVELS: Final = (logging.WARNING, logging.INFO, logging.DEBUG)


def add_workers(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    count = "processes that share the port; SIGHUP loads new code; default: none"
    add("--workers", type=workers, metavar="N", help=count)
    timeout = f"kill a worker that is stuck for so long; default: {STUCK:g}"
    add("--worker-timeout", type=worker_timeout, metavar="S", help=timeout)


def add_operations(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    log = "a line on standard output for each HTTP request: text or json; default: none"
    add("--access-log", metavar="FORM", nargs="?", const="text", choices=("text", "json"), help=log)
    numbers = "serve numbers for Prometheus at /metrics; token: $ASSAY_METRICS_TOKEN"
    add("--metrics", action="store_true", default=None, help=numbers)
    more = "log more to standard error; twice: everything"
    add("-v", "--verbose", action="count", default=0, help=more)


def workers(text: str) -> int:
    if text.isdecimal() and 1 <= int(text) <= MOST:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of workers: write one from 1 to {MOST}")


def worker_timeout(text: str) -> float:
    value = seconds(text)
    if value < 2:
        raise argparse.ArgumentTypeError(
            f"{text!r} is too short: workers report every second, write 2 or more"
        )
    return value


def supervise(options: argparse.Namespace, host: str, port: int) -> int:
    """Run workers until a signal ends them; returns the exit code."""
    from assay.transport.workers.parent import run_workers

    return run_workers(
        options.workers,
        host=host,
        port=port,
        stuck=options.worker_timeout,
        store=options.store or os.environ.get("ASSAY_STORE"),
        say=lambda line: say(f"assay serve: {line}"),
    )


def use_operations(server: Server, options: argparse.Namespace) -> None:
    if options.verbose:
        level = LEVELS[min(options.verbose, len(LEVELS) - 1)]
        logging.basicConfig(format="%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
        logging.getLogger("assay").setLevel(level)
    if options.metrics:
        from assay.middleware import Prometheus

        server.use(Prometheus())
