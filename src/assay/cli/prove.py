"""Prove that the lab's checks can fail: let every saboteur loose, and count who is caught.

  assay prove
  assay prove 'tools.*' framing.banner
  assay prove --suite everything
  assay prove --suite client

A saboteur is a healthy server with one fault; in the suite about clients, a healthy client with one.
It is caught only where a check finds the very requirement broken that it breaks.
Exit codes: 0 all were caught, 1 some got away, 2 there is no such saboteur.
"""

from __future__ import annotations

import argparse
import asyncio

from .exit_code import CommandFailed, ExitCode
from .output import emit
from .suite import add_suite, suite_of

SUMMARY = "prove that the lab's checks can fail, with saboteurs"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("saboteur", nargs="*", default=["*"], metavar="GLOB", help="by id; default: all")
    add_suite(parser, "client")


def execute(options: argparse.Namespace) -> int:
    from assay.cli.lab.extra import check_extra, check_tokens

    check_extra()
    from assay.lab.harness.naming import matches
    from assay.lab.harness.sabotage.proof import missed, rates, run_trials, total
    from assay.lab.harness.sabotage.saboteur import LOCKED, Saboteur

    suite = suite_of(options)
    every = suite.faults.values()
    unknown = [one for one in options.saboteur if not any(matches(one, known.id) for known in every)]
    if unknown:
        hint = f"`assay list --saboteurs --suite {suite.name}` shows all; other suites have others"
        raise CommandFailed(ExitCode.USAGE, f"no such saboteur: {', '.join(unknown)}", hint)
    chosen = [one for one in every if any(matches(pattern, one.id) for pattern in options.saboteur)]
    if any(isinstance(one, Saboteur) and (one.server or "").startswith(LOCKED) for one in chosen):
        check_tokens()
    judged = asyncio.run(run_trials(chosen, suite))
    away = list(missed(judged))
    emit("\n".join((*away, *map(str, rates(judged)), str(total(judged)))) + "\n")
    return ExitCode.DOES_NOT_CONFORM if away else ExitCode.OK
