"""Find out why an MCP server cannot be reached or used.

examples:
  assay doctor https://example.com/mcp                name, TCP, TLS, HTTP, metadata, credentials, protocol
  assay doctor http://localhost:3000/mcp --token T    with a bearer token; or in the variable ASSAY_TOKEN
  assay doctor server.py                              a Python file, as `assay serve` serves it
  assay doctor -- npx -y some-server --flag           a command: found, starts, first line, output, exit
  assay doctor https://example.com/mcp --json         for programs

Every step says what holds or what fails, and which setting to change. Later steps are left out if they cannot
work. The server is sent what any client sends: it is opened, one list is read, and it is closed. With --json,
standard output has {"target", "ok", "steps": [{"name", "status", "detail", "fix", "ms"}]}; a status is ok,
warning, failed or skipped.

exit codes:
  0 no step failed, 1 a step failed, 2 wrong usage, 70 a fault of Assay, 130 interrupted
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.calls.connection import add_connection, connection_from, refuse_more, split_words
from assay.cli.calls.session import DETAIL, end_on_sigterm, run_loop
from assay.cli.output.stream import emit, emit_lines
from assay.model.visible import visible

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.client.doctor import Setup, Step
    from assay.client.stdio import Stdio

SUMMARY = "find out why a server cannot be reached or used"
GROUP = "call"
USAGE = "TARGET [options]  |  [options] -- COMMAND [ARGUMENT …]"


def configure(parser: Parser) -> None:
    add_connection(parser)
    parser.set_defaults(timeout=10.0)
    parser.add_argument_group("output").add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    text, words = split_words(options)
    refuse_more(words)
    connection = connection_from(options, text)
    target = connection.target
    if isinstance(target, Path):
        hint = "name the URL or the command of one of its servers"
        raise CommandFailed(ExitCode.USAGE, "the doctor takes one server, not a configuration", hint)
    from assay.client.doctor import Setup

    setup = Setup(**connection.client)
    try:
        return run_loop(show(target, setup, text or " ".join(options.command_words), options.json))
    except (TypeError, ValueError) as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error


async def show(target: str | Stdio, setup: Setup, text: str, as_json: bool) -> int:
    from assay.client.doctor import Diagnosis, examine

    end_on_sigterm()
    steps = []
    async for step in examine(target, setup):
        steps.append(step)
        if not as_json:
            emit_lines(step_lines(step))
    diagnosis = Diagnosis(text, steps)
    if as_json:
        from assay.cli.output.offer import pretty

        emit(f"{pretty({'target': text, 'ok': diagnosis.ok, 'steps': steps})}\n")
    return ExitCode.OK if diagnosis.ok else ExitCode.DOES_NOT_CONFORM


def step_lines(step: Step) -> list[str]:
    from assay.cli.output.layout import indented, width

    columns = width() if sys.stdout.isatty() else None
    time = "" if step.ms is None else f" ({step.ms:g} ms)"
    detail, *quoted = map(visible, DETAIL.split(step.detail))
    indent = " " * 11
    lines = list(indented(f"{step.name}: {detail}{time}", indent, columns))
    lines[0] = f"{step.status:<9}  {lines[0].strip()}"
    lines += [line for text in quoted for line in indented(text, f"{indent}  ", columns)]
    if step.fix:
        lines += indented(f"fix: {visible(step.fix)}", f"{indent}  ", columns)
    return lines
