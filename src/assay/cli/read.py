"""Read a resource of an MCP server.

examples:
  assay read server.py file:///notes.txt
  assay read https://example.com/mcp image://logo -o logo.png    save it to a file
  assay read server.py data://table -o - | sort                  exactly its bytes, for a program
  assay read config://app -- npx -y some-server                  a command that serves on stdio
  assay read server.py file:///notes.txt --json

`assay resources` lists them, `assay templates` the patterns of further URIs. On standard output, characters
that would act on a terminal are shown as escapes; --output writes the bytes as they are. With --json,
standard output has {"contents": [...]} as the protocol defines it, binary data in Base64.

exit codes:
  0 done, 1 the server refused, 2 wrong usage, 3 no valid answer in time,
  4 the server cannot be reached or did not start, 70 a fault of Assay, 130 interrupted
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.calls.connection import TARGET, add_connection, connection_from, refuse_more, split_words
from assay.cli.calls.launch import add_session, run_session
from assay.cli.output.stream import emit

from .exit_code import ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.cli.calls.session import Deadline
    from assay.client.client import Client

SUMMARY = "read a resource, to the terminal or a file"
GROUP = "call"
USAGE = "TARGET URI [options]  |  URI [options] -- COMMAND [ARGUMENT …]"


def configure(parser: Parser) -> None:
    add_connection(parser, "TARGET URI", f"{TARGET}; and a resource")
    add_session(parser.add_argument_group("during the call"))
    add = parser.add_argument_group("output").add_argument
    add("--json", action="store_true", help="print the result as JSON")
    add("-o", "--output", type=Path, metavar="FILE", help="save it to a file; - is standard output")


def execute(options: argparse.Namespace) -> int:
    target, words = split_words(options, ["URI"])
    refuse_more(words[1:])
    connection = connection_from(options, target)
    return run_session(
        connection, options, lambda client, deadline: read(client, deadline, words[0], options)
    )


async def read(client: Client, deadline: Deadline, uri: str, options: argparse.Namespace) -> int:
    from assay.cli.output.content import contents_text, save
    from assay.cli.output.offer import pretty

    contents = await deadline.wait(client.read(uri, timeout=None))
    if options.json:
        emit(f"{pretty({'contents': contents})}\n")
    elif options.output is not None:
        save(list(contents), options.output)
    elif text := contents_text(contents):
        emit(text if text.endswith("\n") else f"{text}\n")
    return ExitCode.OK
