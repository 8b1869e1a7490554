"""Prove that the lab's checks can fail: run every saboteur, and count those that are caught.

examples:
  assay prove                                 all saboteurs of the protocol suite
  assay prove 'tools.*' framing.banner        some of them
  assay prove --suite everything              those of another suite
  assay prove --suite client
  assay prove --quick                         each once, at its newest revision

A saboteur is a conforming server, or in the suite about clients a conforming client, with one fault. It is
caught only if a check reports the requirement that the fault violates.

exit codes:
  0 all were caught, 1 some were not, 2 wrong usage or no such saboteur
"""

from __future__ import annotations

import argparse
import asyncio

from assay.cli.options.suite import add_suite
from assay.cli.output.stream import emit_lines

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

SUMMARY = "prove that the lab's checks can fail, with saboteurs"
GROUP = "judge"
USAGE = "[GLOB …] [options]"


def configure(parser: Parser) -> None:
    parser.add_argument("saboteur", nargs="*", metavar="GLOB", help="ids of saboteurs; default: all")
    add_suite(parser, "client", default="protocol")
    quick = "run each saboteur once: on one transport, at its newest revision"
    parser.add_argument("--quick", action="store_true", help=quick)


def execute(options: argparse.Namespace) -> int:
    from assay.lab.extra import require_lab, require_tokens

    require_lab()
    from assay.lab.harness.naming import matches
    from assay.lab.harness.sabotage.proof import missed, rates, run_trials, total
    from assay.lab.harness.sabotage.saboteur import WITH_TOKENS, Saboteur
    from assay.lab.selection import any_suite

    suite = any_suite(options.suite)
    faults, patterns = suite.faults.values(), options.saboteur or ["*"]
    unknown = [text for text in patterns if not any(matches(text, fault.id) for fault in faults)]
    if unknown:
        hint = f"`assay list --saboteurs --suite {suite.name}` shows all; other suites have others"
        raise CommandFailed(ExitCode.USAGE, f"no such saboteur: {', '.join(unknown)}", hint)
    chosen = [fault for fault in faults if any(matches(text, fault.id) for text in patterns)]
    if any(isinstance(fault, Saboteur) and (fault.server or "").startswith(WITH_TOKENS) for fault in chosen):
        require_tokens()
    trials = asyncio.run(run_trials(chosen, suite, quick=options.quick))
    uncaught = list(missed(trials))
    emit_lines((*uncaught, *map(str, rates(trials)), str(total(trials))))
    return ExitCode.DOES_NOT_CONFORM if uncaught else ExitCode.OK
