"""Every official id can fail: each saboteur is caught for the right reason.

Here each one runs once, on one transport at its newest revision; `make prove` runs it on all and at all.
"""

import pytest

from assay.lab.harness.sabotage.proof import missed, rates, run_trials, total
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.suites import suite_named
from tests.meta.tree import expect_none

pytestmark = pytest.mark.long
SUITE = suite_named("everything")


def server_of(saboteur: Saboteur) -> str:
    return SUITE.server if saboteur.double is None else saboteur.double.name


TESTBEDS = sorted({server_of(saboteur) for saboteur in SUITE.saboteurs.values()})


# One server runs for all trials before it: to start one costs more than many trials.
@pytest.mark.timeout(240)
@pytest.mark.parametrize("testbed", TESTBEDS)
async def test_every_saboteur_is_caught_for_the_right_reason(
    testbed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = [saboteur for saboteur in SUITE.saboteurs.values() if server_of(saboteur) == testbed]
    judged = await run_trials(chosen, SUITE, quick=True)
    with capsys.disabled():
        print("", *rates(judged), total(judged), sep="\n  ")
    expect_none(missed(judged))


def test_every_official_id_has_a_saboteur() -> None:
    broken = {saboteur.breaks for saboteur in SUITE.saboteurs.values()}
    expect_none(f"{row}: no saboteur breaks it" for row in SUITE.requirements if row not in broken)
