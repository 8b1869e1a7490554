"""Write the frozen catalogue of the lab: every requirement, scenario, check and saboteur of every suite.

Ids, requirements, revisions and transports are what stored runs, baselines and certificates refer to. The
checked-in list keeps them stable: `tests/lab/test_catalogue.py` compares it with what is loaded. Titles may
change freely, so they are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.check import Check
from assay.lab.harness.requirement import Requirement
from assay.lab.harness.sabotage.fault import Fault
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.harness.scenario import Scenario, Window
from assay.lab.harness.transport import Transport
from assay.lab.suites import built_in_suites
from assay.revisions.registry import REVISIONS

FILE = Path(__file__).parents[1] / "tests" / "lab" / "catalogue.txt"


def lines() -> list[str]:
    """One line for each part, sorted."""
    return sorted(f"{suite.name} {line}" for suite in built_in_suites() for line in _parts(suite))


def _parts(suite: Suite) -> Iterator[str]:
    yield from (_requirement(requirement) for requirement in suite.requirements.values())
    yield from (_scenario(scenario) for scenario in suite.scenarios.values())
    yield from (_check(check) for check in suite.checks.values())
    yield from (_saboteur(saboteur) for saboteur in suite.faults.values())


def _requirement(requirement: Requirement) -> str:
    levels = ",".join(f"{date}:{level.value}" for date, level in sorted(requirement.levels.items()))
    return _line(
        "requirement",
        requirement.id,
        area=requirement.area,
        actor=requirement.actor,
        seen=requirement.seen.value,
        levels=levels,
        excluded=requirement.reason is not None,
    )


def _scenario(scenario: Scenario) -> str:
    return _line(
        "scenario",
        scenario.id,
        area=scenario.area,
        exercises=_joined(scenario.exercises),
        also="all" if scenario.also is None else _joined(scenario.also),
        needs=len(scenario.needs),
        transports=_transports(scenario.transports),
        window=_window(scenario.window),
        effects=scenario.effects,
        official=scenario.official or "",
        aliases=_joined(scenario.aliases),
        role=scenario.role.value,
        **({"load": True} if scenario.load else {}),
    )


def _check(check: Check) -> str:
    return _line(
        "check",
        check.id,
        rows=_joined(check.requirements),
        everywhere=check.everywhere,
        by_row=check.by_requirement,
        transports=_transports(check.transports),
    )


def _saboteur(saboteur: Fault) -> str:
    server, silent = "", False
    if isinstance(saboteur, Saboteur):
        server, silent = saboteur.server or "", saboteur.silent
    return _line(
        "saboteur",
        saboteur.id,
        breaks=saboteur.breaks,
        scenario=saboteur.scenario or "",
        transports=_transports(saboteur.transports),
        window=_window(saboteur.window),
        server=server,
        silent=silent,
    )


def _line(kind: str, name: str, **facts: object) -> str:
    return " ".join((kind, name, *(f"{key}={value}" for key, value in facts.items())))


def _joined(names: Iterable[str]) -> str:
    return ",".join(names)


def _transports(transports: Iterable[Transport]) -> str:
    return _joined(sorted(transports))


def _window(window: Window) -> str:
    return _joined(revision.date for revision in REVISIONS if window(revision))


def main() -> int:
    FILE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    print(f"{len(lines())} parts written to {FILE.relative_to(Path.cwd())}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
