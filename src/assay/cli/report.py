"""Show a stored run.

examples:
  assay report                                               the newest run in `results/`, as text
  assay report --format html --output report.html
  assay report results/run-… --format junit > junit.xml
  assay report results/tap-… --format har --output traffic.har      the traffic: har, otlp or pcapng

On a terminal, an HTML page goes to a file beside the run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from assay.cli.options.run import FORMATS
from assay.cli.output.delivery import deliver

from .exit_code import ExitCode
from .parser import Parser

SUMMARY = "show a stored run as text, HTML, JUnit, SARIF, JSON or Markdown; export its traffic"
GROUP = "judge"
USAGE = "[RUN] [options]"


def configure(parser: Parser) -> None:
    run = "run.json, or the directory that holds it; default: the newest run in results/"
    parser.add_argument("run", type=Path, nargs="?", metavar="RUN", help=run)
    parser.add_argument(
        "--format", default="text", metavar="F", help=f"{FORMATS}, har, otlp, pcapng; default: text"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to this file")


def execute(options: argparse.Namespace) -> int:
    from assay.lab.extra import require_lab

    require_lab()
    from assay.cli.output.run import for_reading
    from assay.lab.export.registry import exports
    from assay.lab.harness.run.archive import run_file
    from assay.lab.report.registry import renderer
    from assay.lab.stored import find_run, stored_run

    path = find_run(options.run)
    if options.format in exports():
        return _export(path, options)
    render = renderer(options.format)
    home = run_file(path).parent
    text = render(for_reading(stored_run(path), home, options.format))
    deliver(text, options.format, output=options.output, beside=home)
    return ExitCode.OK


def _export(path: Path, options: argparse.Namespace) -> int:
    from assay.cli.output.delivery import deliver_bytes
    from assay.lab.export.registry import exporter, is_binary
    from assay.lab.harness.run.archive import run_file
    from assay.lab.stored import stored_run, stored_traces

    run = stored_run(path)
    data = exporter(options.format)(run, stored_traces(path))
    if is_binary(options.format):
        deliver_bytes(data, options.output)
    else:
        deliver(data.decode(), options.format, output=options.output, beside=run_file(path).parent)
    return ExitCode.OK
