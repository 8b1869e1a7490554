"""Prove that the lab's checks can fail: run every saboteur, and count those that are caught.

examples:
  assay prove                                 all saboteurs of the protocol suite
  assay prove 'tools.*' framing.banner        some of them
  assay prove --suite everything              those of another suite
  assay prove --suite client
  assay prove --quick                         each once, at its newest revision
  assay prove --repeat                        the line of each finding, run in a shell

A saboteur is a conforming server, or in the suite about clients a conforming client, with one fault. It is
caught only if a check reports the requirement that the fault violates. If all saboteurs run, a check that
catches none fails the proof, too. With --repeat, the line that a finding
gives to repeat it is run, on stdio and HTTP at one revision each; it must show the fault.

exit codes:
  0 all were caught (with --repeat: shown again), 1 some were not, or a check caught none, 2 wrong usage or no
  such saboteur
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.cli.options.suite import add_suite
from assay.cli.output.stream import emit_lines

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.lab.harness.catalogue import Suite
    from assay.lab.harness.sabotage.fault import Fault

SUMMARY = "prove that the lab's checks can fail, with saboteurs"
GROUP = "judge"
USAGE = "[GLOB …] [options]"


def configure(parser: Parser) -> None:
    parser.add_argument("saboteur", nargs="*", metavar="GLOB", help="ids of saboteurs; default: all")
    add_suite(parser, "client", default="protocol")
    quick = "run each saboteur once: on one transport, at its newest revision"
    parser.add_argument("--quick", action="store_true", help=quick)
    repeat = "run the line that repeats each finding, instead of the trials; only for servers"
    parser.add_argument("--repeat", action="store_true", help=repeat)


def execute(options: argparse.Namespace) -> int:
    from assay.lab.extra import require_lab, require_tokens

    require_lab()
    from assay.lab.harness.naming import matches
    from assay.lab.harness.sabotage.proof import idle, missed, rates, run_trials, total
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
    if options.repeat:
        return _repeat(chosen, suite)
    trials = asyncio.run(run_trials(chosen, suite, quick=options.quick))
    problems = [*missed(trials), *(() if options.saboteur else idle(trials, suite))]
    emit_lines((*problems, *map(str, rates(trials)), str(total(trials))))
    return ExitCode.DOES_NOT_CONFORM if problems else ExitCode.OK


def _repeat(chosen: Sequence[Fault], suite: Suite) -> int:
    from assay.lab.harness.sabotage.proof import run_lines
    from assay.lab.harness.sabotage.repetition import failed, kinds

    lines = asyncio.run(run_lines(chosen, suite))
    unseen = list(failed(lines))
    counts = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds(lines).items()))
    emit_lines((*unseen, f"{len(lines) - len(unseen)} of {len(lines)} lines showed the fault ({counts})"))
    return ExitCode.DOES_NOT_CONFORM if unseen else ExitCode.OK
