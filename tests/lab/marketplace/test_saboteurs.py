"""Every row of the profile can fail: each saboteur is caught, for the right reason, wherever it shows."""

from collections.abc import Sequence

import pytest

from assay.lab.harness.sabotage.proof import got_away, rates, try_all
from assay.lab.harness.sabotage.trial import Judged
from assay.lab.suites import suite_named
from tests.meta.tree import expect_none

SUITE = suite_named("marketplace")
# What one test has played, others look at: `make test` keeps a file in one process.
pytestmark = pytest.mark.long
AREAS = sorted({saboteur.area for saboteur in SUITE.saboteurs.values()})
held: dict[str, Sequence[Judged]] = {}
"""Trials by area: they are held once, whichever test asks first."""


async def trials_of(area: str) -> Sequence[Judged]:
    if area not in held:
        held[area] = await try_all([one for one in SUITE.saboteurs.values() if one.area == area], SUITE)
    return held[area]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("area", AREAS)
async def test_every_saboteur_is_caught_for_the_right_reason(
    area: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = await trials_of(area)
    with capsys.disabled():
        print(f"\n  {next(rates(judged))} ", end="")
    expect_none(got_away(judged))


@pytest.mark.timeout(600)
async def test_every_row_catches_a_saboteur() -> None:
    catching = {row for area in AREAS for one in await trials_of(area) for row in one.by}
    every = dict.fromkeys(row for check in SUITE.checks.values() for row in check.results)
    expect_none(f"{row}: no saboteur shows that it can fail" for row in every if row not in catching)
