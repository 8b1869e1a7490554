"""Every official id can fail: each saboteur is caught for the right reason, wherever it shows its fault."""

import pytest

from assay.lab.harness.sabotage.proof import got_away, rates, try_all
from assay.lab.suites import suite_named
from tests.meta.tree import expect_none

SUITE = suite_named("everything")
AREAS = sorted({saboteur.area for saboteur in SUITE.saboteurs.values()})


@pytest.mark.timeout(120)
@pytest.mark.parametrize("area", AREAS)
async def test_every_saboteur_is_caught_for_the_right_reason(
    area: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = await try_all([one for one in SUITE.saboteurs.values() if one.area == area], SUITE)
    with capsys.disabled():
        print(f"\n  {next(rates(judged))} ", end="")
    expect_none(got_away(judged))


def test_every_official_id_has_a_saboteur() -> None:
    broken = {saboteur.breaks for saboteur in SUITE.saboteurs.values()}
    expect_none(f"{row}: no saboteur breaks it" for row in SUITE.requirements if row not in broken)
