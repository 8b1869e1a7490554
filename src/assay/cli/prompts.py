"""List the prompts of an MCP server.

examples:
  assay prompts https://example.com/mcp
  assay prompts server.py
  assay prompts -- npx -y some-server            a command that serves on stdio
  assay prompts server.py --json                 {"prompts": [...]} as the protocol defines them

`assay prompt` gets one, filled with its arguments.

exit codes:
  0 done, 1 the server refused, 2 wrong usage, 3 no valid answer in time,
  4 the server cannot be reached or did not start, 70 a fault of Assay, 130 interrupted
"""

from __future__ import annotations

import argparse

from assay.cli.calls.listing import add_list, run_list

from .parser import Parser

SUMMARY = "list the prompts of a server"
GROUP = "call"
USAGE = "TARGET [options]  |  [options] -- COMMAND [ARGUMENT …]"


def configure(parser: Parser) -> None:
    add_list(parser)


def execute(options: argparse.Namespace) -> int:
    from assay.cli.output.offer import prompt_lines

    return run_list(options, lambda client: client.prompts(), "prompts", prompt_lines)
