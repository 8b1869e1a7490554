"""Every check of clients can fail: each saboteur is caught, for the right reason.

Here each one runs once, on one transport at its newest revision; `make prove` runs it on all and at all.
"""

from collections.abc import Sequence

import pytest

from assay.lab.harness.sabotage.proof import missed, rates, run_trials
from assay.lab.harness.sabotage.trial import TrialResult
from assay.lab.suites import suite_named
from tests.meta.tree import expect_none

SUITE = suite_named("client")
# What one test has played, others look at: `make test` keeps a file in one process.
pytestmark = pytest.mark.long
AREAS = sorted({saboteur.area for saboteur in SUITE.client_saboteurs.values()})
held: dict[str, Sequence[TrialResult]] = {}
"""Trials by area: they are held once, whichever test asks first."""


async def trials_of(area: str) -> Sequence[TrialResult]:
    if area not in held:
        chosen = [saboteur for saboteur in SUITE.client_saboteurs.values() if saboteur.area == area]
        held[area] = await run_trials(chosen, SUITE, quick=True)
    return held[area]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("area", AREAS)
async def test_every_saboteur_is_caught_for_the_right_reason(
    area: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = await trials_of(area)
    with capsys.disabled():
        print(f"\n  {next(rates(judged))} ", end="")
    expect_none(missed(judged))


@pytest.mark.timeout(240)
async def test_every_check_catches_a_saboteur() -> None:
    catching = {check for area in AREAS for trial in await trials_of(area) for check in trial.caught_by}
    every = dict.fromkeys(result for check in SUITE.checks.values() for result in check.results)
    expect_none(f"{result}: no saboteur shows that it can fail" for result in every if result not in catching)
