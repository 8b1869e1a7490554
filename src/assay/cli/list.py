"""Show the lab's scenarios with the checks they exercise, or how much of the specification they cover.

assay list                       every scenario of the protocol suite
assay list --suite everything    those of the official suite
assay list --client              those that judge clients; --suite auth: of one group
assay list --coverage            the requirements by revision and area: covered, excluded, uncovered
assay list --saboteurs           the faults that prove that checks can fail; `assay prove` tries them
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .exit_code import CommandFailed, ExitCode
from .output import emit
from .suite import DEFAULT, add_suite, suite_of

if TYPE_CHECKING:
    from assay.lab.harness.catalogue import Suite
    from assay.lab.harness.sabotage.fault import Fault
    from assay.lab.harness.scenario import Scenario

SUMMARY = "show the lab's scenarios, or what they cover"


def configure(parser: argparse.ArgumentParser) -> None:
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--server", action="store_true", help="scenarios that judge servers; the default")
    side.add_argument("--client", action="store_true", help="those that judge clients; --suite is a group")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--coverage", action="store_true", help="requirements of the protocol suite instead of scenarios"
    )
    what.add_argument("--saboteurs", action="store_true", help="saboteurs instead of scenarios")
    add_suite(parser)
    parser.add_argument("--missing", action="store_true", help="with --coverage: name every uncovered row")


def execute(options: argparse.Namespace) -> int:
    emit("\n".join(lines_of(options)) + "\n")
    return ExitCode.OK


def lines_of(options: argparse.Namespace) -> Iterator[str]:
    suite = wanted_suite(options)
    if options.coverage:
        return coverage_lines(suite, missing=options.missing)
    if options.missing:
        raise CommandFailed(ExitCode.USAGE, "--missing goes with --coverage", "add it, or leave this out")
    return saboteur_lines(suite) if options.saboteurs else scenario_lines(suite)


def wanted_suite(options: argparse.Namespace) -> Suite:
    if not options.client:
        return suite_of(options)
    from assay.cli.lab.client_play import group_of

    return group_of("all" if options.suite == DEFAULT else options.suite)


def scenario_lines(suite: Suite) -> Iterator[str]:
    scenarios = suite.scenarios.values()
    width = widest(one.id for one in scenarios)
    for scenario in scenarios:
        places = ", ".join(sorted(scenario.transports))
        other = scenario.official not in (None, scenario.id)
        official = f" (official: {scenario.official})" if other else ""
        also = f" (also: {', '.join(scenario.aliases)})" if scenario.aliases else ""
        yield f"{scenario.id:<{width}} {scenario.title}{official}{also}"
        at = revisions_told(suite, scenario)
        yield f"{'':<{width}} on {places}{at}; checks {', '.join(suite.sought(scenario))}"
    yield from group_lines(suite)
    yield f"{len(scenarios)} scenarios that judge a {suite.role.value}"


def revisions_told(suite: Suite, scenario: Scenario) -> str:
    """Where it is played, unless that is everywhere."""
    from assay.lab.harness.run.plan import makes_sense
    from assay.revisions.registry import REVISIONS

    at = [
        one.date
        for one in REVISIONS
        if any(makes_sense(suite, scenario, on, one) for on in scenario.transports)
    ]
    return "" if len(at) == len(REVISIONS) else f" at {', '.join(at)}"


def group_lines(suite: Suite) -> Iterator[str]:
    """What `assay client --suite` takes, with the number of scenarios in each."""
    from assay.lab.client.groups import groups, narrowed
    from assay.lab.harness.scenario import Role
    from assay.lab.suites import suite_named

    if suite.role is Role.CLIENT:
        whole = suite_named(suite.name)
        counted = (f"{name} {len(narrowed(whole, name).scenarios)}" for name in groups(whole))
        yield f"by --suite: {', '.join(counted)}"


def saboteur_lines(suite: Suite) -> Iterator[str]:
    every = suite.faults.values()
    width, broken = widest(one.id for one in every), widest(one.breaks for one in every)
    for one in every:
        yield f"{one.id:<{width}} {one.breaks:<{broken}} {one.fault}"
    for area in sorted({one.area for one in every}):
        yield f"{area:<14}{_broken(one for one in every if one.area == area)}"
    yield f"{'all':<14}{_broken(every)}"


def widest(names: Iterable[str]) -> int:
    return max(map(len, names), default=0)


def _broken(saboteurs: Iterable[Fault]) -> str:
    rows = [one.breaks for one in saboteurs]
    return f"{len(rows):>4} saboteurs break {len(set(rows))} requirements"


def coverage_lines(suite: Suite, *, missing: bool) -> Iterator[str]:
    from assay.lab.harness.coverage import Cover, cover, spoken_rows, tally
    from assay.revisions.registry import REVISIONS

    if suite.name not in ("protocol", "client"):
        problem = f"the suite {suite.name} has no sentences of the specification to cover"
        raise CommandFailed(ExitCode.USAGE, problem, "--coverage is of the protocol suite, or with --client")
    yield f"MUST and MUST NOT rows that the {suite.role.value} side has to keep, by revision:"
    for revision in REVISIONS:
        rows = spoken_rows(suite, revision)
        total = tally(rows, revision, suite)
        parts = ", ".join(f"{total.counts.get(kind, 0)} {kind}" for kind in Cover)
        yield f"{revision}  {total.share:4.0%} of {total.testable} testable rows: {parts}"
        for area in sorted({row.area for row in rows}):
            part = tally([row for row in rows if row.area == area], revision, suite)
            yield f"  {area:<14}{part.counts.get(Cover.COVERED, 0):>3} of {part.testable}"
        for row in rows if missing else ():
            if cover(row, revision, suite) in (Cover.UNCOVERED, Cover.UNPROVED):
                yield f"  {row.id:<9}{row.area:<12}{row.statement}"
