"""Show a stored run in another form.

  assay report results/run-… --format html --output report.html
  assay report results/run-… --format junit > junit.xml

On a terminal, a page goes to a file beside the run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .delivery import deliver
from .exit_code import ExitCode
from .formats import FORMATS
from .stored import stored_run

SUMMARY = "show a stored run as text, HTML, JUnit, SARIF, JSON or Markdown"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, help="run.json, or the directory that holds it")
    parser.add_argument("--format", default="text", metavar="F", help=FORMATS)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to this file")


def execute(options: argparse.Namespace) -> int:
    from assay.cli.lab.extra import check_extra

    check_extra()
    from assay.cli.lab.judging import for_eyes, wanted_format
    from assay.lab.harness.run.archive import place_of
    from assay.lab.report.registry import renderer

    render = renderer(wanted_format(options.format))
    run = stored_run(options.run)
    place = place_of(options.run)
    shown = render(for_eyes(run, place, options.format))
    deliver(shown, options.format, output=options.output, beside=place.parent)
    return ExitCode.OK
