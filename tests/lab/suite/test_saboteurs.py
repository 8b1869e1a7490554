"""Every check can fail: each saboteur is caught, for the right reason, wherever it can show its fault."""

from collections.abc import Sequence

import pytest

from assay.lab.harness.sabotage.trial import Judged
from assay.lab.suite.catalogue import shipped
from tests.lab.grounds import got_away, try_all
from tests.meta.tree import expect_none

SUITE = shipped()
AREAS = sorted({saboteur.area for saboteur in SUITE.saboteurs.values()})
held: dict[str, Sequence[Judged]] = {}
"""Trials by area: they are held once, whichever test asks first."""


async def trials_of(area: str) -> Sequence[Judged]:
    if area not in held:
        held[area] = await try_all([one for one in SUITE.saboteurs.values() if one.area == area], SUITE)
    return held[area]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("area", AREAS)
async def test_every_saboteur_is_caught_for_the_right_reason(
    area: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = await trials_of(area)
    away = got_away(judged)
    caught = len(judged) - len(away)
    with capsys.disabled():
        faults = len({one.trial.saboteur.id for one in judged})
        print(f"\n  {area}: {faults} saboteurs, {caught} of {len(judged)} trials caught ", end="")
    expect_none(away)


@pytest.mark.timeout(600)
async def test_every_check_catches_a_saboteur() -> None:
    catching = {check for area in AREAS for one in await trials_of(area) for check in one.by}
    expect_none(
        f"{check}: no saboteur shows that it can fail" for check in SUITE.checks if check not in catching
    )
