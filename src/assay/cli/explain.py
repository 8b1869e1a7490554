"""Explain a requirement, check, scenario, saboteur or demand of a profile by its id.

examples:
  assay explain TL-19
  assay explain tools.unknown-name
  assay explain tools-call-error    an official scenario
  assay explain BENCH-STDIO-02      a demand of a marketplace's profile
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from assay.cli.output.stream import emit_lines

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.lab.harness.catalogue import Suite
    from assay.lab.harness.requirement import Requirement

SUMMARY = "explain a requirement, check, scenario or saboteur"
GROUP = "judge"
USAGE = "ID"


def configure(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help="such as TL-19 or tools.unknown-name")


def execute(options: argparse.Namespace) -> int:
    from assay.lab.extra import require_tokens

    require_tokens()
    from assay.lab.selection import all_suites

    suites = all_suites()
    lines = [line for suite in suites for line in explain(options.id, suite)]
    lines += explain_demand(options.id)
    if not lines:
        raise CommandFailed(ExitCode.USAGE, f"nothing has the id {options.id}", similar(options.id, suites))
    emit_lines(lines)
    return ExitCode.OK


def explain_demand(name: str) -> Iterator[str]:
    """The demand of that name in each edition of a profile."""
    from assay.certify.fix_hint import fix_hint
    from assay.certify.profile_list import known_digests, shipped

    for edition in known_digests():
        for demand in shipped(edition).demands:
            if demand.id in (name, name.upper()) or demand.id.lower() == name.lower():
                kinds = ["scored" if demand.scored else "not scored", *(["core"] if demand.core else [])]
                yield f"demand {demand.id} of {edition}: {demand.title}"
                yield f"  {', '.join(kinds)}; category {demand.category}; {MEASURED_BY[demand.by]}"
                yield from (f"  {limit.figure}: {limit}" for limit in demand.limit)
                yield f"  on {', '.join(demand.transports) or 'any transport'}"
                if hint := fix_hint(demand.id):
                    yield f"  fix: {hint}"


MEASURED_BY: Final = {
    "traces": "judged from recorded messages",
    "evidence": "judged from files in the bundle",
    "results": "follows from the results of other demands",
    "measurement": "measured, and judged by the limits",
    "later": "not measured under this edition",
}


def similar(name: str, suites: Iterable[Suite]) -> str:
    from difflib import get_close_matches

    from assay.certify.profile_list import known_digests, shipped

    ids = {
        known
        for suite in suites
        for known in (*suite.requirements, *suite.scenarios, *suite.checks, *suite.faults)
    }
    ids |= {demand.id for edition in known_digests() for demand in shipped(edition).demands}
    alike = get_close_matches(name, ids, cutoff=0.7) or sorted(known for known in ids if name in known)[:3]
    return f"did you mean {', '.join(alike)}?" if alike else "`assay list` shows scenarios"


def explain(name: str, suite: Suite) -> Iterator[str]:
    """Everything with that name: a check and a scenario may share one."""
    from assay.lab.harness.naming import matches
    from assay.lab.harness.run.plan import is_named

    requirement = suite.requirements.get(name) or suite.requirements.get(name.upper())
    if requirement is not None:
        yield from requirement_lines(requirement, suite)
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


def requirement_lines(requirement: Requirement, suite: Suite) -> Iterator[str]:
    yield f"{requirement.id} ({requirement.area}): {requirement.statement}"
    for revision in requirement.revisions:
        level = requirement.level(revision)
        yield f"  {revision}  {level.value if level else '':<15}{requirement.link(revision)}"
    if requirement.reason:
        yield f"  no check: {requirement.reason}"
    for check in suite.checks.values():
        if requirement.id in check.requirements:
            yield f"  check {check.id}: {check.title}"
    for saboteur in suite.faults.values():
        if saboteur.breaks == requirement.id:
            yield f"  saboteur {saboteur.id}: {saboteur.fault}"
