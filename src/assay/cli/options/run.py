"""Options of a run that servers and clients share: what is selected, how it runs, where results go."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .value import count, seconds

if TYPE_CHECKING:
    from assay.lab.options import Golden

FORMATS: Final = "text, matrix, html, junit, sarif, json or markdown"
"""For `--help`. The formats themselves are found in `lab/report/`; a test compares."""


def add_strictness(group: argparse._ArgumentGroup, role: str) -> None:
    add = group.add_argument
    add("--jobs", type=count, metavar="N", help="scenarios that run at once; default: the number of cores")
    deadline = "seconds for the whole run, which then ends with what was judged; default: 3600"
    add("--deadline", type=seconds, metavar="S", help=deadline)
    add("--repeat", type=count, metavar="N", help="run each scenario N times, and report flaky ones")
    add("--strict", action="store_true", help="a violated SHOULD fails, too")
    baseline = f"expected failures in YAML, `{role}: [scenario]`; entries that pass are errors"
    add("--baseline", "--expected-failures", type=Path, metavar="FILE", help=baseline)


def add_scenarios(group: argparse._ArgumentGroup, example: str) -> None:
    add = group.add_argument
    only = f"only these, such as '{example}' or an area; repeatable"
    add("--scenario", "--only", action="append", default=[], metavar="GLOB", help=only)
    skip = "all but these; repeatable"
    add("--skip", action="append", default=[], metavar="GLOB", help=skip)


def add_results(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("-o", "--output", type=Path, default=Path("results"), metavar="DIR", help="default: results")
    add("--format", default="text", metavar="F", help=f"{FORMATS}; default: text")
    golden = group.add_mutually_exclusive_group()
    record, against = "record this run as the expected one", "fail if this run differs from the recorded one"
    golden.add_argument("--record-golden", type=Path, metavar="DIR", help=record)
    golden.add_argument("--against-golden", type=Path, metavar="DIR", help=against)
    add("--golden-ignore", action="append", default=[], metavar="POINTER", help="JSON Pointer; repeatable")
    watch = "run again when this file or directory changes; repeatable"
    add("--watch", action="append", default=[], type=Path, metavar="PATH", help=watch)


def run_options(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `RunOptions`."""
    return {
        "scenario": tuple(options.scenario),
        "skip": tuple(options.skip),
        "spec_version": tuple(options.spec_version),
        "jobs": options.jobs,
        "repeat": options.repeat or 1,
        "deadline": options.deadline,
        "strict": options.strict,
        "baseline": options.baseline,
        "output": options.output,
        "golden": _golden(options),
    }


def _golden(options: argparse.Namespace) -> Golden:
    from assay.lab.options import Golden

    return Golden(
        record=options.record_golden, against=options.against_golden, ignore=tuple(options.golden_ignore)
    )
