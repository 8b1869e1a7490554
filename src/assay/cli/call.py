"""Call a tool of an MCP server.

examples:
  assay call server.py add a=1 b=2                    arguments are typed by the tool's schema
  assay call server.py search tag=x tag=y limit:=5    an array of two items; a number as JSON
  assay call server.py add --json '{"a": 1, "b": 2}'  arguments and result as JSON
  assay call server.py send text=@letter.txt          the contents of a file
  assay call https://example.com/mcp plot -o plot.png save the image of the result
  assay call add a=1 b=2 -- npx -y some-server        a command that serves on stdio
  assay call server.py build --progress --root .      with progress, and a folder for the server
  echo '{"a": 1}' | assay call server.py add -        arguments from standard input

{forms}

If the server asks the user something, the terminal shows the form; without one, the question is declined
unless --answer has the answer. With --json, standard output has the result as the protocol defines it.

exit codes:
  0 done, 1 the tool failed or the server refused, 2 wrong usage, no such tool, or an argument does not fit,
  3 no valid answer in time, 4 the server cannot be reached or did not start, 70 a fault of Assay,
  130 interrupted
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.calls.argument import FORMS, Arguments
from assay.cli.calls.connection import TARGET, add_connection, connection_from, split_words
from assay.cli.calls.launch import add_session, run_session
from assay.cli.output.stream import emit

from .exit_code import ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.cli.calls.session import Deadline
    from assay.client.client import Client

__doc__ = (__doc__ or "").replace("{forms}", FORMS)
SUMMARY = "call a tool: key=value … or a JSON object"
GROUP = "call"
USAGE = "TARGET NAME [key=value …] [options]  |  NAME [key=value …] [options] -- COMMAND …"


def configure(parser: Parser) -> None:
    add_connection(parser, "TARGET NAME [key=value …]", f"{TARGET}; a tool; its arguments")
    add_session(parser.add_argument_group("during the call"))
    add = parser.add_argument_group("output").add_argument
    add("--json", action="store_true", help="print the result as JSON")
    add("-o", "--output", type=Path, metavar="FILE", help="save the images, audio or files of the result")


def execute(options: argparse.Namespace) -> int:
    target, words = split_words(options, ["tool"])
    connection = connection_from(options, target)
    return run_session(connection, options, lambda client, deadline: call(client, deadline, words, options))


async def call(client: Client, deadline: Deadline, words: list[str], options: argparse.Namespace) -> int:
    from assay.cli.calls.lookup import by_name
    from assay.cli.calls.session import failure, show_progress
    from assay.cli.output.content import result_text, save
    from assay.cli.output.offer import pretty
    from assay.model.client_error import ToolFailed

    name, *rest = words
    tool = by_name(await client.tools(), name, "tool")
    arguments = Arguments(name, tool.input_schema).read(rest)
    progress = show_progress if options.progress else None
    result = await deadline.wait(
        client.call_tool(name, arguments, timeout=None, progress=progress, check=False)
    )
    if options.json:
        emit(f"{pretty(result)}\n")
        return ExitCode.DOES_NOT_CONFORM if result.is_error else ExitCode.OK
    if result.is_error:
        raise failure(ToolFailed(name, result))
    if options.output is not None:
        save(result.content, options.output)
    elif text := result_text(result):
        emit(f"{text}\n")
    return ExitCode.OK
