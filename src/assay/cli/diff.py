"""Compare two stored runs: what got better, worse, new, gone, flaky, and why.

  assay diff results/run-A results/run-B
  assay diff before/run.json after/run.json --format markdown

The first is what was, the second what is. A scenario that came out differently among the attempts of one run
(`--repeat N`) is flaky, neither better nor worse. Where the traces of both runs are at hand, the
first frame in which they part is shown; what always differs, as times and session ids, is left aside.

Exit codes: 0 nothing is worse, 1 something is, 2 usage.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .exit_code import CommandFailed, ExitCode
from .output import emit
from .stored import stored_run

if TYPE_CHECKING:
    from assay.lab.harness.run.difference import Explain

SUMMARY = "compare two stored runs: better, worse, new, gone, flaky"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", type=Path, metavar="RUN", help="run.json, or the directory that holds it")
    parser.add_argument("after", type=Path, metavar="RUN", help="the run to compare with it")
    parser.add_argument("--format", default="text", metavar="F", help="text, json or markdown; default: text")


def execute(options: argparse.Namespace) -> int:
    from assay.cli.lab.extra import check_extra

    check_extra()
    from assay.cli.lab.differences import FORMATS
    from assay.lab.harness.run.difference import difference

    if options.format not in FORMATS:
        problem = f"unknown format: {options.format}"
        raise CommandFailed(ExitCode.USAGE, problem, f"one of {', '.join(FORMATS)}")
    before, after = stored_run(options.before), stored_run(options.after)
    found = difference(before, after, explaining(options.before, options.after))
    emit(FORMATS[options.format](found))
    return ExitCode.DOES_NOT_CONFORM if found.is_worse else ExitCode.OK


def explaining(before: Path, after: Path) -> Explain:
    """Finds the first frame that differs, where both runs still have their traces."""
    from assay.lab.harness.golden.canonical import canonical
    from assay.lab.harness.golden.frame_difference import FrameDifference, frame_differences
    from assay.lab.harness.run.archive import place_of
    from assay.lab.harness.run.run import CellResult
    from assay.lab.harness.trace.file import BadTrace, read_trace

    homes = place_of(before).parent, place_of(after).parent

    def explain(old: CellResult, new: CellResult) -> FrameDifference | None:
        files = homes[0] / old.trace, homes[1] / new.trace
        if not all(file.is_file() for file in files):
            return None
        try:
            one, other = (canonical(read_trace(file)) for file in files)
        except BadTrace as error:
            hint = "compare runs whose traces are as they were recorded"
            raise CommandFailed(ExitCode.USAGE, str(error), hint) from error
        return next(iter(frame_differences(one, other)), None)

    return explain
