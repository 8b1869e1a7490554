"""List the resource templates of an MCP server.

examples:
  assay templates https://example.com/mcp
  assay templates server.py
  assay templates -- npx -y some-server            a command that serves on stdio
  assay templates server.py --json                 {"resourceTemplates": [...]} as the protocol defines them

Fill a pattern such as note://{id} with values, and `assay read` reads that URI.

exit codes:
  0 done, 1 the server refused, 2 wrong usage, 3 no valid answer in time,
  4 the server cannot be reached or did not start, 70 a fault of Assay, 130 interrupted
"""

from __future__ import annotations

import argparse

from assay.cli.calls.listing import add_list, run_list

from .parser import Parser

SUMMARY = "list the resource templates of a server"
GROUP = "call"
USAGE = "TARGET [options]  |  [options] -- COMMAND [ARGUMENT …]"


def configure(parser: Parser) -> None:
    add_list(parser)


def execute(options: argparse.Namespace) -> int:
    from assay.cli.output.offer import resource_lines

    return run_list(options, lambda client: client.templates(), "resourceTemplates", resource_lines)
