"""Our own checks on the same saboteurs, over HTTP at the same revisions."""

import asyncio
from collections.abc import Mapping, Sequence

from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.harness.sabotage.testbed import Testbed
from assay.lab.harness.sabotage.trial import Trial, run_trial, server_trials
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

JOBS = 8
FIXTURES = "everything"
"""The server that the official suite needs."""


class Candidate(Struct, frozen=True):
    """A saboteur of a suite that works over HTTP."""

    suite: Suite
    saboteur: Saboteur

    @property
    def name(self) -> str:
        return f"{self.suite.name}.{self.saboteur.id}"

    @property
    def home(self) -> str:
        """The server that it was written for."""
        return self.saboteur.server or self.suite.server


Caught = dict[tuple[str, str, Revision], bool]
"""By server, candidate and revision."""


class OurVerdicts(Struct, frozen=True):
    """Whether our checks found the right requirement broken."""

    caught: Caught

    def revisions(self, candidate: Candidate) -> list[Revision]:
        """The revisions at which it applies, with its server."""
        home = (candidate.home, candidate.name)
        return [revision for server, name, revision in self.caught if (server, name) == home]

    def on_own_server(self, candidate: Candidate, revision: Revision) -> bool:
        return self.caught[candidate.home, candidate.name, revision]

    def on_fixtures(self, candidate: Candidate, revision: Revision) -> bool:
        return self.caught.get((FIXTURES, candidate.name, revision), False)


async def judge_all(candidates: Sequence[Candidate], revisions: Sequence[Revision]) -> OurVerdicts:
    caught: Caught = {}
    doubles = {
        candidate.double.name: candidate.double
        for candidate in _saboteurs(candidates)
        if candidate.double is not None
    }
    for double in (None, *doubles.values()):
        fitting = [candidate for candidate in candidates if candidate.saboteur.double is double]
        for server in sorted({FIXTURES, *(candidate.home for candidate in fitting)} if fitting else ()):
            here = [candidate for candidate in fitting if server in (FIXTURES, candidate.home)]
            async with Testbed(server, double) as testbed:
                results = await _judge(testbed, here, revisions)
            caught |= {(server, name, revision): is_caught for (name, revision), is_caught in results.items()}
    return OurVerdicts(caught)


def _saboteurs(candidates: Sequence[Candidate]) -> list[Saboteur]:
    return [candidate.saboteur for candidate in candidates]


async def _judge(
    testbed: Testbed, candidates: Sequence[Candidate], revisions: Sequence[Revision]
) -> Mapping[tuple[str, Revision], bool]:
    limit = asyncio.Semaphore(JOBS)

    async def run_one(candidate: Candidate, trial: Trial[Saboteur]) -> tuple[tuple[str, Revision], bool]:
        async with limit:
            trial_result = await run_trial(trial, candidate.suite, testbed, Conditions())
        return (candidate.name, trial.revision), bool(trial_result.caught_by)

    planned = [
        (candidate, trial)
        for candidate in candidates
        for trial in server_trials(candidate.saboteur, candidate.suite, testbed)
        if trial.transport is Transport.HTTP and trial.revision in revisions
    ]
    quick = [run_one(*pair) for pair in planned if not pair[1].saboteur.silent]
    results = await asyncio.gather(*quick)
    # An unannounced change is only visible while no other trial changes the server.
    return dict([*results, *[await run_one(*pair) for pair in planned if pair[1].saboteur.silent]])
