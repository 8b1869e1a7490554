"""Judge stored traffic again, offline: traces, the traces of a stored run, or a directory of them.

  assay judge results/server-tools-unknown-name-…/trace-http-….ndjson
  assay judge results/run-…
  assay judge results/

Traces of servers and of clients, each judged by its suite. A trace that was changed after it was written is
refused. Exit codes are those of `assay server`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .delivery import deliver
from .exit_code import CommandFailed, ExitCode
from .formats import FORMATS

if TYPE_CHECKING:
    from assay.lab.harness.trace.trace import Trace

SUMMARY = "judge stored traffic again, offline"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", type=Path, nargs="+", help="a trace, a stored run, or a directory with traces"
    )
    parser.add_argument("--strict", action="store_true", help="a broken SHOULD fails too")
    parser.add_argument("--format", default="text", metavar="F", help=FORMATS)


def execute(options: argparse.Namespace) -> int:
    from assay.cli.lab.extra import check_tokens

    check_tokens()
    from assay.cli.lab.judging import EXIT_CODES, wanted_format
    from assay.lab.harness.run.conclusion import conclude
    from assay.lab.harness.run.rejudge import rejudged
    from assay.lab.report.registry import renderer
    from assay.lab.suites import every_suite

    render = renderer(wanted_format(options.format))
    run = rejudged(list(every_suite()), read_all(options.path), strict=options.strict)
    deliver(render(run), options.format, beside=Path())
    return EXIT_CODES[conclude(run)]


def read_all(paths: list[Path]) -> list[tuple[str, Trace]]:
    from assay.lab.harness.run.run import BadRun
    from assay.lab.harness.trace.file import BadTrace, read_trace

    try:
        files = [file for path in paths for file in traces_at(path)]
        if not files:
            raise CommandFailed(ExitCode.USAGE, "no trace found", "traces end in .ndjson")
        return [(str(file), read_trace(file)) for file in files]
    except BadTrace as error:
        hint = "judge a trace as it was recorded, or record it again"
        raise CommandFailed(ExitCode.USAGE, str(error), hint) from error
    except BadRun as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error
    except OSError as error:
        hint = "give traces, or a directory results/… of `assay server` or `assay client`"
        raise CommandFailed(ExitCode.USAGE, f"{error.filename}: {error.strerror}", hint) from error


def traces_at(path: Path) -> list[Path]:
    """The file itself, what a stored run names, or whatever is below a directory."""
    from assay.lab.harness.run.archive import RUN_FILE, read_run

    stored = path / RUN_FILE if path.is_dir() else path
    if stored.name == RUN_FILE and stored.exists():
        run = read_run(stored)
        return [(stored.parent / cell.trace).resolve() for cell in run.cells if cell.trace]
    return sorted(path.rglob("*.ndjson")) if path.is_dir() else [path]
