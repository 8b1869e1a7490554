"""The option `--suite`, for all commands of the lab that have it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .exit_code import CommandFailed, ExitCode

if TYPE_CHECKING:
    from assay.lab.harness.catalogue import Suite


DEFAULT = "protocol"
FUZZ = "fuzz"
"""Makes up what it plays, so that there is nothing to list or to prove: only `assay server` has it."""


def add_suite(parser: argparse.ArgumentParser | argparse._ArgumentGroup, *more: str) -> None:
    names = ", ".join(("protocol", "everything", "marketplace", *more))
    parser.add_argument("--suite", default=DEFAULT, metavar="NAME", help=f"{names}; default: {DEFAULT}")


def suite_of(options: argparse.Namespace, *more: str) -> Suite:
    """The suite that was asked for; `more` are those that the command knows besides."""
    from assay.lab.suites import SHIPPED, suite_named

    if options.suite not in SHIPPED:
        known = ", ".join((*SHIPPED, *more))
        elsewhere = " here" if options.suite == FUZZ else ""
        raise CommandFailed(ExitCode.USAGE, f"no such suite{elsewhere}: {options.suite}", f"one of {known}")
    return suite_named(options.suite)
