"""Trials of client saboteurs, and the report of one that was not caught."""

from assay.lab.harness.sabotage.client_saboteur import EVERY, ClientSaboteur
from assay.lab.harness.sabotage.client_trial import client_trials
from assay.lab.harness.sabotage.proof import missed, run_trials
from assay.lab.harness.transport import HTTP_ONLY, Transport
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST

SUITE = suite_named("client")


def test_saboteur_is_tried_on_its_transports_at_the_newest_revision_of_each_kind() -> None:
    places = [
        (trial.transport, trial.revision)
        for trial in client_trials(ClientSaboteur("a", "b", "CLIENT-03"), SUITE)
    ]
    assert places == [(Transport.HTTP, HANDSHAKE[-1]), (Transport.HTTP, PER_REQUEST[-1])]


def test_rule_that_only_older_revisions_have_is_tried_at_the_newest_of_those() -> None:
    old = ClientSaboteur(
        "a", "b", "CLIENT-03", transports=EVERY, window=lambda revision: revision is HANDSHAKE[-2]
    )
    assert {trial.revision for trial in client_trials(old, SUITE)} == {HANDSHAKE[-2]}
    assert {trial.transport for trial in client_trials(old, SUITE)} == EVERY


async def test_saboteur_without_a_fault_is_not_caught() -> None:
    harmless = ClientSaboteur("odd.harmless", "nothing at all", "CLIENT-03", transports=HTTP_ONLY)
    lines = list(missed(await run_trials([harmless], SUITE)))
    assert [line.partition(" at ")[0] for line in lines] == ["odd.harmless on http"] * 2
    assert all("found instead: nothing" in line for line in lines)
