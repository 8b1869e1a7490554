"""Explain one requirement, check, scenario or saboteur by its id.

assay explain TL-19
assay explain tools.unknown-name
assay explain tools-call-error    an official scenario
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .exit_code import CommandFailed, ExitCode
from .output import emit

if TYPE_CHECKING:
    from assay.lab.harness.catalogue import Suite
    from assay.lab.harness.requirement import Requirement

SUMMARY = "explain a requirement, check, scenario or saboteur"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="e.g. TL-19 or tools.unknown-name")


def execute(options: argparse.Namespace) -> int:
    from assay.cli.lab.extra import check_tokens

    check_tokens()
    from assay.lab.suites import every_suite

    suites = list(every_suite())
    lines = [line for suite in suites for line in explain(options.id, suite)]
    if not lines:
        raise CommandFailed(ExitCode.USAGE, f"nothing has the id {options.id}", near(options.id, suites))
    emit("\n".join(lines) + "\n")
    return ExitCode.OK


def near(name: str, suites: Iterable[Suite]) -> str:
    """What may have been meant."""
    from difflib import get_close_matches

    known = {
        known
        for suite in suites
        for known in (*suite.requirements, *suite.scenarios, *suite.checks, *suite.faults)
    }
    alike = get_close_matches(name, known, cutoff=0.7) or sorted(one for one in known if name in one)[:3]
    return f"did you mean {', '.join(alike)}?" if alike else "`assay list` shows scenarios"


def explain(name: str, suite: Suite) -> Iterator[str]:
    """All that goes by that name: a check and a scenario may share one."""
    from assay.lab.harness.naming import matches
    from assay.lab.harness.run.plan import is_named

    row = suite.requirements.get(name) or suite.requirements.get(name.upper())
    if row is not None:
        yield from requirement_lines(row, suite)
    for scenario in suite.scenarios.values():
        if is_named(scenario, name):
            yield f"scenario {scenario.id} of the suite {suite.name}: {scenario.title}"
            yield f"  on {', '.join(sorted(scenario.transports))}"
            yield f"  exercises {', '.join(suite.sought(scenario))}"
    for check in suite.checks.values():
        if matches(name, check.id) and not check.by_requirement:
            yield f"check {check.id}: {check.title}"
            for cited in check.requirements:
                yield from (f"  {line}" for line in requirement_lines(suite.requirements[cited], suite))
    for saboteur in suite.faults.values():
        if matches(name, saboteur.id):
            yield f"saboteur {saboteur.id}: {saboteur.fault}"
            yield f"  breaks {saboteur.breaks}: {suite.requirements[saboteur.breaks].statement}"


def requirement_lines(row: Requirement, suite: Suite) -> Iterator[str]:
    yield f"{row.id} ({row.area}): {row.statement}"
    for revision in row.revisions:
        level = row.level(revision)
        yield f"  {revision}  {level.value if level else '':<15}{row.link(revision)}"
    if row.reason:
        yield f"  no check: {row.reason}"
    for check in suite.checks.values():
        if row.id in check.requirements:
            yield f"  check {check.id}: {check.title}"
    for saboteur in suite.faults.values():
        if saboteur.breaks == row.id:
            yield f"  saboteur {saboteur.id}: {saboteur.fault}"
