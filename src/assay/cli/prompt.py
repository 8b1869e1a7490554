"""Get a prompt of an MCP server, filled with its arguments.

examples:
  assay prompt server.py review code=@main.py         the text of a file as the argument `code`
  assay prompt https://example.com/mcp greet name=Ada
  assay prompt greet name=Ada -- npx -y some-server   a command that serves on stdio
  assay prompt server.py greet name=Ada --json        {"messages": [...]} as the protocol defines it

`assay prompts` lists them. Arguments of prompts are texts: key=value, or key=@FILE.

exit codes:
  0 done, 1 the server refused, 2 wrong usage, no such prompt or argument, 3 no valid answer in time,
  4 the server cannot be reached or did not start, 70 a fault of Assay, 130 interrupted
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from assay.cli.calls.argument import Arguments
from assay.cli.calls.connection import TARGET, add_connection, connection_from, split_words
from assay.cli.calls.launch import add_session, run_session
from assay.cli.output.stream import emit

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.cli.calls.session import Deadline
    from assay.client.client import Client
    from assay.model.definition import PromptDefinition
    from assay.model.result import PromptResult

SUMMARY = "get a prompt, filled with its arguments"
GROUP = "call"
USAGE = "TARGET NAME [key=value …] [options]  |  NAME [key=value …] [options] -- COMMAND …"


def configure(parser: Parser) -> None:
    add_connection(parser, "TARGET NAME [key=value …]", f"{TARGET}; a prompt; its arguments")
    add_session(parser.add_argument_group("during the call"))
    parser.add_argument_group("output").add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    target, words = split_words(options, ["prompt"])
    connection = connection_from(options, target)
    return run_session(
        connection, options, lambda client, deadline: get(client, deadline, words, options.json)
    )


async def get(client: Client, deadline: Deadline, words: list[str], as_json: bool) -> int:
    from assay.cli.calls.lookup import by_name
    from assay.cli.output.content import prompt_text
    from assay.cli.output.offer import pretty

    name, *rest = words
    prompt = by_name(await client.prompts(), name, "prompt")
    arguments = Arguments(name, schema_of(prompt)).read(rest)
    for key, value in arguments.items():
        if not isinstance(value, str):
            raise CommandFailed(ExitCode.USAGE, f"argument {key} is not a text", f"write {key}=…")
    result = await deadline.wait(filled(client, name, arguments))
    emit(f"{pretty(result) if as_json else prompt_text(result)}\n")
    return ExitCode.OK


async def filled(client: Client, name: str, arguments: dict[str, Any]) -> PromptResult:
    """As `Client.prompt`, but without its time-out: a question to the user pauses ours."""
    import msgspec

    from assay.model.client_error import InvalidAnswer
    from assay.model.result import PromptResult

    result = await client.request("prompts/get", {"name": name, "arguments": arguments}, timeout=None)
    try:
        return msgspec.convert(result, PromptResult)
    except msgspec.ValidationError as error:
        raise InvalidAnswer(f"the server's answer to prompts/get is invalid: {error}") from None


def schema_of(prompt: PromptDefinition) -> dict[str, Any]:
    """The arguments of a prompt, as the schema of a tool would have them."""
    arguments = prompt.arguments or []
    return {
        "type": "object",
        "properties": {item.name: {"type": "string"} for item in arguments},
        "required": [item.name for item in arguments if item.required],
        "additionalProperties": False,
    }
