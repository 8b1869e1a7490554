"""Find arguments for the tools of a server, and write them to a file for `assay check --arguments`.

examples:
  assay arguments server.py > arguments.json           call tools that only read, guess for the others
  assay arguments server.py -o arguments.json          the same
  assay arguments server.py --allow-effects            also call tools that do not say that they only read
  assay check server.py --arguments arguments.json     judge with them

The file has a list of arguments for each tool, {"tools": {"NAME": [{"ARGUMENT": VALUE}]}}: those that worked,
or a guess. Edit it where the notes on standard error say that a tool never succeeded. Every set is used.

exit codes:
  0 done, 2 wrong usage, 3 no valid answer in time, 4 the server cannot be reached or did not start,
  70 a fault of Assay, 130 interrupted
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from assay.cli.options.access import access_from, add_access
from assay.cli.options.subject import add_subject, target_from
from assay.cli.options.value import seconds
from assay.cli.output.stream import emit, say, say_lines

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

SUMMARY = "find arguments for the tools of a server, to judge it with"
GROUP = "judge"
USAGE = "TARGET [options]  |  [options] -- COMMAND [ARGUMENT …]"


def configure(parser: Parser) -> None:
    add_subject(parser)
    add_access(parser.add_argument_group("protected servers"))
    add = parser.add_argument_group("calls").add_argument
    add("--allow-effects", action="store_true", help="also call tools without `readOnlyHint`")
    destructive = "also call tools with `destructiveHint`; includes --allow-effects"
    add("--allow-destructive", action="store_true", help=destructive)
    add("--arguments", type=Path, metavar="FILE", help="arguments that are known, as written before")
    add("--spec-version", action="append", default=[], metavar="DATE", help="only this revision; repeatable")
    add("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")
    output = parser.add_argument_group("output").add_argument
    output("-o", "--output", type=Path, metavar="FILE", help="a new file; default: standard output")


def execute(options: argparse.Namespace) -> int:
    if options.output is not None and options.output.exists():
        fix = "name another file: it may contain arguments that were written by hand"
        raise CommandFailed(ExitCode.USAGE, f"{options.output} exists", fix)
    from assay.lab.argument_file import argument_file
    from assay.lab.argument_run import find_arguments
    from assay.lab.options import JudgeOptions
    from assay.model.visible import visible

    values = JudgeOptions(
        transport=tuple(options.transport or ()),
        access=access_from(options),
        spec_version=tuple(options.spec_version),
        allow_effects=options.allow_effects,
        allow_destructive=options.allow_destructive,
        arguments=options.arguments or {},
        timeout=options.timeout,
    )
    learnt = asyncio.run(find_arguments(target_from(options), values))
    say_lines([visible(remark) for remark in learnt.remarks])
    if any(remark.startswith("never succeeded") for remark in learnt.remarks):
        say("correct the arguments of tools that never succeeded in the file")
    content = argument_file(learnt.tools)
    if options.output is None:
        emit(content.decode())
        return ExitCode.OK
    try:
        options.output.write_bytes(content)
    except OSError as error:
        raise CommandFailed(ExitCode.USAGE, f"cannot write {options.output}: {error.strerror}") from error
    say(f"written: {options.output}")
    return ExitCode.OK
