"""Judge stored traces again, offline.

examples:
  assay judge                                 the newest run in `results/`
  assay judge results/run-…                   a stored run
  assay judge results/server-tools-…/trace-http-….ndjson
  assay judge results/                        all traces in a directory

Traces of servers and of clients are judged by their own suites. A trace that was changed after it was
recorded is refused. Exit codes are those of `assay check`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from assay.cli.options.run import FORMATS
from assay.cli.output.delivery import deliver

from .parser import Parser

SUMMARY = "judge stored traces again, offline"
GROUP = "judge"
USAGE = "[PATH …] [options]"


def configure(parser: Parser) -> None:
    path = "trace, stored run, or directory with traces; default: the newest run in results/"
    parser.add_argument("path", type=Path, nargs="*", metavar="PATH", help=path)
    parser.add_argument("--strict", action="store_true", help="a violated SHOULD fails, too")
    parser.add_argument("--format", default="text", metavar="F", help=f"{FORMATS}; default: text")


def execute(options: argparse.Namespace) -> int:
    from assay.lab.extra import require_tokens

    require_tokens()
    from assay.cli.output.run import exit_code
    from assay.lab.report.registry import renderer
    from assay.lab.stored import newest_run, rejudge

    render = renderer(options.format)
    run = rejudge(options.path or [newest_run()], strict=options.strict)
    deliver(render(run), options.format, beside=Path())
    return exit_code(run)
