"""Every fault is caught in servers whose tools say nothing about their effects, and that have no fixtures."""

from collections.abc import Mapping, Sequence

import msgspec
import pytest

from assay.lab.harness.sabotage.proof import run_trials
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.suite.tools.unannotated import UNANNOTATED
from assay.lab.suites import protocol_suite
from tests.lab.suite.test_without_fixtures import saboteurs_without_fixtures
from tests.meta.tree import expect_none

SUITE = protocol_suite()
CHANGES = "a tool changes the list or the resource: it is found by its description, with any annotations"
LEAVES = "the client leaves a listen stream, without any tool"
ENDS = "the process is ended while any safe request runs"
REASONS: Mapping[str, str] = {
    **dict.fromkeys(("PR-02", "PR-14", "RS-02", "RS-04", "SUB-01", "TL-02"), CHANGES),
    **dict.fromkeys(("HTTP-20", "HTTP-21"), LEAVES),
    "ROBUST-04": ENDS,
}
"""Why the saboteurs of a requirement are not tried again without annotations."""


def is_proved_already(saboteurs: Sequence[Saboteur]) -> bool:
    """Whether `make prove` runs one with tools without annotations, or where only tokens matter."""
    return any(saboteur.double is not None or saboteur.server is not None for saboteur in saboteurs)


async def caught(saboteurs: Sequence[Saboteur]) -> set[str]:
    bare = [msgspec.structs.replace(saboteur, double=UNANNOTATED) for saboteur in saboteurs]
    results = await run_trials(bare, SUITE, quick=True) if bare else []
    return {result.trial.saboteur.breaks for result in results if result.caught_by}


@pytest.mark.timeout(600)
async def test_every_requirement_has_a_saboteur_that_is_caught_without_hints() -> None:
    left = {
        name: group
        for name, group in saboteurs_without_fixtures().items()
        if name not in REASONS and not is_proved_already(group)
    }
    # The first saboteur of most requirements is enough.
    for part in (slice(1), slice(1, None)):
        done = await caught([saboteur for group in left.values() for saboteur in group[part]])
        left = {name: group for name, group in left.items() if name not in done}
    expect_none(f"{name}: no saboteur was caught with tools without annotations" for name in left)
