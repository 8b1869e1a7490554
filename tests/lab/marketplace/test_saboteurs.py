"""Every row of the profile can fail: each saboteur is caught, for the right reason, wherever it shows."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from assay.lab.harness.sabotage.proof import missed, rates, run_trials, total
from assay.lab.harness.sabotage.saboteur import Saboteur, newest_of_each_kind
from assay.lab.harness.sabotage.trial import TrialResult
from assay.lab.suites import suite_named
from assay.revisions.registry import REVISIONS
from tests.meta.tree import expect_none

SUITE = suite_named("marketplace")
# What one test has played, others look at: `make test` keeps a file in one process.
pytestmark = pytest.mark.long
# One server runs for all trials before it: to start one costs more than many trials.
SERVERS = sorted({saboteur.server or SUITE.server for saboteur in SUITE.saboteurs.values()})
# These ask the same of every revision: the newest of each kind stands for all. `assay prove` tries each.
ALIKE = ("cap", "jrpc", "obs", "sec")
held: dict[str, Sequence[TrialResult]] = {}
"""Trials by server: they are held once, whichever test asks first."""


def lately(one: Saboteur) -> Saboteur:
    """A window of its own stays: there revisions differ."""
    return replace(one, window=newest_of_each_kind) if all(map(one.window, REVISIONS)) else one


async def trials_before(server: str) -> Sequence[TrialResult]:
    if server not in held:
        here = [one for one in SUITE.saboteurs.values() if (one.server or SUITE.server) == server]
        held[server] = await run_trials([lately(one) if one.area in ALIKE else one for one in here], SUITE)
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
async def test_every_row_catches_a_saboteur() -> None:
    catching = {row for server in SERVERS for one in await trials_before(server) for row in one.caught_by}
    every = dict.fromkeys(row for check in SUITE.checks.values() for row in check.results)
    expect_none(f"{row}: no saboteur shows that it can fail" for row in every if row not in catching)
