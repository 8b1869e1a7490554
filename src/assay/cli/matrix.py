"""Run clients with servers, every pair on every transport and revision, and judge whose fault it is.

examples:
  assay matrix matrix.toml                        run what changed, and write the page
  assay matrix matrix.toml --client 'mine*'       only these clients; results of the others stay
  assay matrix matrix.toml --transport stdio --spec-version DATE
  assay matrix matrix.toml --force                run everything again

The file names clients and servers by the commands that start them:

  transports = ["stdio", "http"]

  [steps]
  tools = { do = "list_tools" }
  add = { do = "call_tool", name = "add", arguments = { a = 1, b = 2 } }

  [clients.mine]
  http = ["python", "my_client.py", "{url}"]

  [servers.mine]
  stdio = ["python", "my_server.py"]
  http = ["python", "my_server.py", "--port", "{port}"]
  url = "http://127.0.0.1:{port}/mcp"

A client finds the revision in MCP_CONFORMANCE_PROTOCOL_VERSION and the steps in MCP_CONFORMANCE_CONTEXT. It
exits with 0, or with 127 if it does not support what is asked of it. Better still, it prints a line of JSON
for each step, {"step": 0, "ok": true}: see docs/matrix.md. All traffic is recorded, and the lab judges both
sides. A pair runs again if its commands, steps or files changed, or if it could not run before. No shell runs
the commands.

exit codes:
  0 every pair works, 1 a pair is faulty, 2 wrong usage, 3 a pair could not be run, 130 interrupted: what ran
  is kept
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from assay.cli.options.value import count, seconds

from .parser import Parser

SUMMARY = "run clients with servers, all pairs, and judge whose fault it is"
GROUP = "judge"
USAGE = "FILE [options]"


def configure(parser: Parser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="the clients, servers and steps, as TOML")
    select = parser.add_argument_group("selection").add_argument
    select("--client", action="append", default=[], metavar="GLOB", help="only these clients; repeatable")
    select("--server", action="append", default=[], metavar="GLOB", help="only these servers; repeatable")
    select("--transport", action="append", default=[], metavar="T", help="stdio or http; repeatable")
    select("--spec-version", action="append", default=[], metavar="DATE", help="a revision; repeatable")
    manner = parser.add_argument_group("execution").add_argument
    manner("--force", action="store_true", help="run pairs again even if nothing changed since")
    manner("--jobs", type=count, metavar="N", help="pairs that run at once; default: the number of cores")
    manner(
        "--timeout",
        type=seconds,
        metavar="S",
        help="seconds for one client; default: as the file says, or 60",
    )
    results = parser.add_argument_group("results").add_argument
    output = "directory of page, results and traces; default: results/matrix"
    results("-o", "--output", type=Path, metavar="DIR", default=Path("results/matrix"), help=output)


def execute(options: argparse.Namespace) -> int:
    from assay.lab.matrix.options import MatrixOptions
    from assay.lab.matrix.run import follow_matrix

    values = MatrixOptions(
        client=tuple(options.client),
        server=tuple(options.server),
        transport=tuple(options.transport),
        spec_version=tuple(options.spec_version),
        jobs=options.jobs,
        timeout=options.timeout,
        force=options.force,
        output=options.output,
    )
    live = follow_matrix(options.file, values)
    from assay.cli.output.matrix import show_matrix

    return asyncio.run(show_matrix(live))
