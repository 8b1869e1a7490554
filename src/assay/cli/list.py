"""List the lab's scenarios with the checks they exercise, or how much of the specification they cover.

examples:
  assay list                       the scenarios of the protocol suite
  assay list --suite everything    those of the official suite
  assay list --client              those that judge clients; --suite auth: those of one group
  assay list --coverage            requirements by revision and area: covered, excluded, uncovered
  assay list --suites              the suites, also those of installed packages
  assay list --saboteurs           the faults that prove that checks can fail; `assay prove` runs them
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assay.cli.options.suite import FUZZ, add_suite
from assay.cli.output.stream import emit_lines

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.lab.harness.catalogue import Suite
    from assay.lab.harness.sabotage.fault import Fault
    from assay.lab.harness.scenario import Scenario

SUMMARY = "list the lab's scenarios, or what they cover"
GROUP = "judge"
USAGE = "[options]"


def configure(parser: Parser) -> None:
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--server", action="store_true", help="scenarios that judge servers, the default")
    side.add_argument(
        "--client", action="store_true", help="scenarios that judge clients; --suite is a group"
    )
    content = parser.add_mutually_exclusive_group()
    content.add_argument("--coverage", action="store_true", help="requirements instead of scenarios")
    content.add_argument("--suites", action="store_true", help="suites instead of scenarios")
    content.add_argument("--saboteurs", action="store_true", help="saboteurs instead of scenarios")
    add_suite(parser)
    parser.add_argument("--missing", action="store_true", help="with --coverage: name the uncovered ones")


def execute(options: argparse.Namespace) -> int:
    from assay.lab.extra import require_lab

    require_lab()
    emit_lines(lines_of(options))
    return ExitCode.OK


def lines_of(options: argparse.Namespace) -> Iterator[str]:
    if options.suites:
        return suite_lines()
    suite = selected_suite(options)
    if options.coverage:
        return coverage_lines(suite, missing=options.missing)
    if options.missing:
        raise CommandFailed(ExitCode.USAGE, "--missing goes with --coverage", "add it, or leave this out")
    return saboteur_lines(suite) if options.saboteurs else scenario_lines(suite)


def selected_suite(options: argparse.Namespace) -> Suite:
    from assay.lab.selection import DEFAULT, any_suite, client_suite

    if options.client:
        return client_suite(options.suite or "all")
    if options.suite == FUZZ:
        raise CommandFailed(ExitCode.USAGE, "the suite fuzz has nothing to list: it generates its messages")
    return any_suite(options.suite or DEFAULT)


def suite_lines() -> Iterator[str]:
    from assay.lab.selection import all_suites
    from assay.lab.suites import about

    suites = {suite.name: suite for suite in all_suites()}
    for name, suite in suites.items():
        parts = {"scenarios": suite.scenarios, "checks": suite.checks, "saboteurs": suite.faults}
        counts = ", ".join(f"{len(items)} {kind}" for kind, items in parts.items())
        yield f"{name:<{widest(suites)}} {about(name)}: {counts}"


def scenario_lines(suite: Suite) -> Iterator[str]:
    scenarios = suite.scenarios.values()
    width = widest(scenario.id for scenario in scenarios)
    for scenario in scenarios:
        places = ", ".join(sorted(scenario.transports))
        other = scenario.official not in (None, scenario.id)
        official = f" (official: {scenario.official})" if other else ""
        also = f" (also: {', '.join(scenario.aliases)})" if scenario.aliases else ""
        yield f"{scenario.id:<{width}} {scenario.title}{official}{also}"
        at = dates(suite, scenario)
        yield f"{'':<{width}} on {places}{at}; checks {', '.join(suite.sought(scenario))}"
    yield from group_lines(suite)
    yield f"{len(scenarios)} scenarios that judge a {suite.role.value}"


def dates(suite: Suite, scenario: Scenario) -> str:
    """The revisions that it runs at, unless those are all."""
    from assay.lab.harness.run.plan import is_defined
    from assay.revisions.registry import REVISIONS

    at = [
        revision.date
        for revision in REVISIONS
        if any(is_defined(suite, scenario, transport, revision) for transport in scenario.transports)
    ]
    return "" if len(at) == len(REVISIONS) else f" at {', '.join(at)}"


def group_lines(suite: Suite) -> Iterator[str]:
    """The values of `assay check --client --suite`, with the number of scenarios in each."""
    from assay.lab.client.groups import groups, narrowed
    from assay.lab.harness.scenario import Role
    from assay.lab.suites import suite_named

    if suite.role is Role.CLIENT:
        whole = suite_named(suite.name)
        counts = (f"{name} {len(narrowed(whole, name).scenarios)}" for name in groups(whole))
        yield f"by --suite: {', '.join(counts)}"


def saboteur_lines(suite: Suite) -> Iterator[str]:
    faults = suite.faults.values()
    width, breaks = widest(fault.id for fault in faults), widest(fault.breaks for fault in faults)
    for fault in faults:
        yield f"{fault.id:<{width}} {fault.breaks:<{breaks}} {fault.fault}"
    for area in sorted({fault.area for fault in faults}):
        yield f"{area:<14}{_count(fault for fault in faults if fault.area == area)}"
    yield f"{'all':<14}{_count(faults)}"


def widest(names: Iterable[str]) -> int:
    return max(map(len, names), default=0)


def _count(faults: Iterable[Fault]) -> str:
    requirements = [fault.breaks for fault in faults]
    return f"{len(requirements):>4} saboteurs break {len(set(requirements))} requirements"


def coverage_lines(suite: Suite, *, missing: bool) -> Iterator[str]:
    from assay.lab.harness.coverage import Cover, cover, explicit_requirements, tally
    from assay.revisions.registry import REVISIONS

    if suite.name not in ("protocol", "client"):
        problem = f"the suite {suite.name} does not cover requirements of the specification"
        raise CommandFailed(ExitCode.USAGE, problem, "--coverage is of the protocol suite, or with --client")
    yield f"MUST and MUST NOT rows that the {suite.role.value} side has to keep, by revision:"
    for revision in REVISIONS:
        rows = explicit_requirements(suite, revision)
        total = tally(rows, revision, suite)
        parts = ", ".join(f"{total.counts.get(kind, 0)} {kind}" for kind in Cover)
        yield f"{revision}  {total.share:4.0%} of {total.testable} testable rows: {parts}"
        for area in sorted({row.area for row in rows}):
            part = tally([row for row in rows if row.area == area], revision, suite)
            yield f"  {area:<14}{part.counts.get(Cover.COVERED, 0):>3} of {part.testable}"
        for row in rows if missing else ():
            if cover(row, revision, suite) in (Cover.UNCOVERED, Cover.UNPROVED):
                yield f"  {row.id:<9}{row.area:<12}{row.statement}"
