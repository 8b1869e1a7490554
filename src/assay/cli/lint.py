"""Check what a server lists as hosts and models read it: tokens, names, descriptions, schemas, annotations.

examples:
  assay lint server.py
  assay lint http://localhost:3000/mcp --format json
  assay lint server.py --strict                      warnings fail, too
  assay lint server.py --skip output-schema-missing  leave a rule out
  assay lint --format sarif -- npx some-server > lint.sarif

Nothing is called. Errors are what hosts are known to refuse; each problem has its reason and fix. Tokens are
those of OpenAI's o200k_base with the extra `lint`, and an estimate without it. See docs/lint.md.

exit codes:
  0 no error; 1 an error, or with --strict a warning; 2 wrong usage; 3 the server supports no revision, or is
  silent, or lists nothing; 4 the server cannot be reached or did not start; 130 interrupted
"""

from __future__ import annotations

import argparse
import asyncio

from assay.cli.options.access import access_from, add_access
from assay.cli.options.subject import add_subject, target_from
from assay.cli.options.value import count, seconds
from assay.cli.output.stream import emit

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

SUMMARY = "check names, descriptions, schemas and token cost of what a server lists"
GROUP = "judge"
USAGE = "TARGET [options]  |  [options] -- COMMAND [ARGUMENT …]"
FORMATS = ("text", "json", "sarif")


def configure(parser: Parser) -> None:
    add_subject(parser)
    add_access(parser.add_argument_group("protected servers"))
    add = parser.add_argument_group("rules").add_argument
    add("--skip", action="append", default=[], metavar="RULE", help="leave this rule out; repeatable")
    add("--strict", action="store_true", help="a warning fails, too")
    tool = "tokens of a tool above which it is expensive; default: 1000"
    add("--tool-tokens", type=count, default=1000, metavar="N", help=tool)
    total = "tokens of all tools above which they are expensive; default: 10000"
    add("--total-tokens", type=count, default=10_000, metavar="N", help=total)
    more = parser.add_argument_group("execution").add_argument
    more("--spec-version", metavar="DATE", help="the revision; default: the newest of the server")
    more("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")
    more("--format", choices=FORMATS, default="text", metavar="F", help="text, json or sarif; default: text")


def execute(options: argparse.Namespace) -> int:
    from assay.lab.lint_run import LintOptions, lint
    from assay.lab.surface.report import FORMATS as RENDERERS

    transports = options.transport or []
    if len(transports) > 1:
        raise CommandFailed(ExitCode.USAGE, "one transport is enough to list", "give --transport once")
    values = LintOptions(
        transport=transports[0] if transports else None,
        access=access_from(options),
        spec_version=options.spec_version,
        skip=tuple(options.skip),
        tool_tokens=options.tool_tokens,
        total_tokens=options.total_tokens,
        timeout=options.timeout,
    )
    report = asyncio.run(lint(target_from(options), values))
    emit(RENDERERS[options.format](report))
    if not report.items:
        raise CommandFailed(ExitCode.INCOMPLETE, "the server lists nothing", "is it the right one?")
    failed = report.errors or (options.strict and report.warnings)
    return ExitCode.DOES_NOT_CONFORM if failed else ExitCode.OK
