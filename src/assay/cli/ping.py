"""Measure how long an MCP server takes to answer.

examples:
  assay ping https://example.com/mcp
  assay ping server.py --count 10
  assay ping -- npx -y some-server                a command that serves on stdio
  assay ping server.py --json                     for programs

The first line is the time to connect and agree on a revision, or to start the process. The others are one
request and its answer: `ping`, or `server/discover` in revisions without it. With --json, standard output has
{"server", "revision", "openMs", "pingMs": [...]}.

exit codes:
  0 done, 1 the server refused, 2 wrong usage, 3 no valid answer in time,
  4 the server cannot be reached or did not start, 70 a fault of Assay, 130 interrupted
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING

from assay.cli.calls.connection import add_connection, connection_from, refuse_more, split_words
from assay.cli.options.value import count
from assay.cli.output.stream import emit, emit_lines

from .exit_code import ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.client.client import Client

SUMMARY = "measure how long a server takes to answer"
GROUP = "call"
USAGE = "TARGET [options]  |  [options] -- COMMAND [ARGUMENT …]"


def configure(parser: Parser) -> None:
    add_connection(parser)
    add = parser.add_argument_group("output").add_argument
    add("--count", type=count, default=3, metavar="N", help="how often; default: 3")
    add("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    target, words = split_words(options)
    refuse_more(words)
    connection = connection_from(options, target)
    from assay.cli.calls.launch import run

    start = perf_counter()
    return run(connection, lambda client: ping(client, start, options))


async def ping(client: Client, start: float, options: argparse.Namespace) -> int:
    from assay.cli.output.offer import pretty, server_line

    opened = 1000 * (perf_counter() - start)
    if not options.json:
        emit_lines([server_line(client, f"open in {opened:.1f} ms")])
    times = []
    for number in range(options.count):
        times.append(1000 * await client.ping())
        if not options.json:
            emit_lines([f"{number + 1}: {times[-1]:.2f} ms"])
    if options.json:
        rounded = [round(time, 3) for time in times]
        report = {"server": client.server_info, "revision": client.revision}
        emit(f"{pretty({**report, 'openMs': round(opened, 3), 'pingMs': rounded})}\n")
    return ExitCode.OK
