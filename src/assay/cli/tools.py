"""List the tools of an MCP server, or show one of them.

examples:
  assay tools https://example.com/mcp                 the server at a URL
  assay tools server.py                               a server in a Python file; also server.py:name
  assay tools "npx -y some-server"                    a command that serves on stdio
  assay tools -- npx -y some-server --flag            the same, unquoted
  assay tools mcp.json                                all servers of an `mcpServers` configuration
  assay tools server.py add                           everything about the tool `add`
  assay tools server.py --json | jq '.tools[].name'   for programs
  ASSAY_TOKEN=… assay tools https://example.com/mcp   with a bearer token

TARGET is read as by `assay check`. A Python file is served in its own process, as a client would start it.
With --json, standard output has one JSON object: {"tools": [...]}, as the protocol defines them.

exit codes:
  0 done, 1 the server refused, 2 wrong usage or no such tool, 3 no valid answer in time,
  4 the server cannot be reached or did not start, 70 a fault of Assay, 130 interrupted
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli.calls.connection import TARGET, add_connection, connection_from, refuse_more, split_words

from .parser import Parser

if TYPE_CHECKING:
    from assay.client.client import Client

SUMMARY = "list the tools of a server, or show one"
GROUP = "call"
USAGE = "TARGET [NAME] [options]  |  [NAME] [options] -- COMMAND [ARGUMENT …]"


def configure(parser: Parser) -> None:
    add_connection(parser, "TARGET [NAME]", f"{TARGET}; and a tool")
    parser.add_argument_group("output").add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    target, words = split_words(options)
    refuse_more(words[1:])
    connection = connection_from(options, target)
    from assay.cli.calls.launch import run

    return run(connection, lambda client: show(client, words, options.json), prepare)


def prepare() -> None:
    import assay.cli.output.lists
    import assay.client.listing  # noqa: F401


async def show(client: Client, words: list[str], as_json: bool) -> int:
    from assay.cli.calls.lookup import by_name
    from assay.cli.output.lists import show_items
    from assay.cli.output.offer import tool_lines, tool_page

    tools = await client.tools()
    if words:
        return show_items(client, "tools", [by_name(tools, words[0], "tool")], tool_page, as_json)
    return show_items(client, "tools", tools, tool_lines, as_json)
