"""Every check can fail: each saboteur is caught, for the right reason.

Here each one runs once, on one transport at its newest revision; `make prove` runs it on all and at all.
"""

from collections.abc import Sequence

import pytest

from assay.lab.harness.sabotage.proof import missed, rates, run_trials, total
from assay.lab.harness.sabotage.trial import TrialResult
from assay.lab.suites import protocol_suite
from tests.meta.tree import expect_none

SUITE = protocol_suite()
# What one test has played, others look at: `make test` keeps a file in one process.
pytestmark = pytest.mark.long
# One server runs for all trials before it: to start one costs more than many trials.
SERVERS = sorted({saboteur.server or SUITE.server for saboteur in SUITE.saboteurs.values()})
held: dict[str, Sequence[TrialResult]] = {}
"""Trials by server: they are held once, whichever test asks first."""


async def trials_before(server: str) -> Sequence[TrialResult]:
    if server not in held:
        here = [one for one in SUITE.saboteurs.values() if (one.server or SUITE.server) == server]
        held[server] = await run_trials(here, SUITE, quick=True)
    return held[server]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("server", SERVERS)
async def test_every_saboteur_is_caught_for_the_right_reason(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = await trials_before(server)
    with capsys.disabled():
        print("", *rates(judged), total(judged), sep="\n  ")
    expect_none(missed(judged))


@pytest.mark.timeout(600)
async def test_every_check_catches_a_saboteur() -> None:
    catching = {check for server in SERVERS for one in await trials_before(server) for check in one.caught_by}
    expect_none(
        f"{check}: no saboteur shows that it can fail" for check in SUITE.checks if check not in catching
    )
