"""Compare two stored runs: what got better, worse, new, gone or flaky, and why.

examples:
  assay diff                                  the newest run in `results/` with the one before
  assay diff results/run-A                    that run with the newest
  assay diff before/run.json after/run.json --format markdown

A scenario with different outcomes in one run (`--repeat N`) is flaky: neither better nor worse. If the traces
of both runs are stored, the first frame that differs is shown, without values that always differ, such as
times and session ids.

exit codes:
  0 nothing is worse, 1 something is, 2 wrong usage
"""

from __future__ import annotations

import argparse
from pathlib import Path

from assay.cli.output.stream import emit

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

SUMMARY = "compare two stored runs: better, worse, new, gone, flaky"
GROUP = "judge"
USAGE = "[BEFORE [AFTER]] [options]"


def configure(parser: Parser) -> None:
    add = parser.add_argument
    add("before", type=Path, nargs="?", metavar="BEFORE", help="stored run; default: the newest but one")
    add("after", type=Path, nargs="?", metavar="AFTER", help="stored run; default: the newest in results/")
    add("--format", default="text", metavar="F", help="text, json or markdown; default: text")


def execute(options: argparse.Namespace) -> int:
    from assay.lab.extra import require_lab

    require_lab()
    from assay.cli.output.difference import FORMATS
    from assay.lab.stored import compare, find_run

    if options.format not in FORMATS:
        problem = f"unknown format: {options.format}"
        raise CommandFailed(ExitCode.USAGE, problem, f"one of {', '.join(FORMATS)}")
    before = find_run(options.before, before=0 if options.after else 1)
    difference = compare(before, find_run(options.after))
    emit(FORMATS[options.format](difference))
    return ExitCode.DOES_NOT_CONFORM if difference.is_worse else ExitCode.OK
