"""Our own checks before the same saboteurs, on HTTP at the same revisions."""

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

AT_ONCE = 8
FIXTURES = "everything"
"""The server that the official suite needs."""


class Candidate(Struct, frozen=True):
    """A saboteur of a suite that can stand on HTTP."""

    suite: Suite
    saboteur: Saboteur

    @property
    def name(self) -> str:
        return f"{self.suite.name}.{self.saboteur.id}"

    @property
    def home(self) -> str:
        """The server that it is written for."""
        return self.saboteur.server or self.suite.server


Caught = dict[tuple[str, str, Revision], bool]
"""By server, candidate and revision."""


class Seen(Struct, frozen=True):
    """Whether our checks found the right requirement broken."""

    caught: Caught

    def revisions(self, candidate: Candidate) -> list[Revision]:
        """Where it has something to break, before its own server."""
        home = (candidate.home, candidate.name)
        return [revision for server, name, revision in self.caught if (server, name) == home]

    def at_home(self, candidate: Candidate, revision: Revision) -> bool:
        return self.caught[candidate.home, candidate.name, revision]

    def on_fixtures(self, candidate: Candidate, revision: Revision) -> bool:
        return self.caught.get((FIXTURES, candidate.name, revision), False)


async def see_all(candidates: Sequence[Candidate], revisions: Sequence[Revision]) -> Seen:
    caught: Caught = {}
    doubles = {one.double.name: one.double for one in _saboteurs(candidates) if one.double is not None}
    for double in (None, *doubles.values()):
        fitting = [one for one in candidates if one.saboteur.double is double]
        for server in sorted({FIXTURES, *(one.home for one in fitting)} if fitting else ()):
            here = [one for one in fitting if server in (FIXTURES, one.home)]
            async with Testbed(server, double) as ground:
                found = await _see(ground, here, revisions)
            caught |= {(server, name, revision): by for (name, revision), by in found.items()}
    return Seen(caught)


def _saboteurs(candidates: Sequence[Candidate]) -> list[Saboteur]:
    return [one.saboteur for one in candidates]


async def _see(
    ground: Testbed, candidates: Sequence[Candidate], revisions: Sequence[Revision]
) -> Mapping[tuple[str, Revision], bool]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def hold(candidate: Candidate, trial: Trial[Saboteur]) -> tuple[tuple[str, Revision], bool]:
        async with gate:
            judged = await run_trial(trial, candidate.suite, ground, Conditions())
        return (candidate.name, trial.revision), bool(judged.caught_by)

    planned = [
        (one, trial)
        for one in candidates
        for trial in server_trials(one.saboteur, one.suite, ground)
        if trial.transport is Transport.HTTP and trial.revision in revisions
    ]
    quick = [hold(*pair) for pair in planned if not pair[1].saboteur.silent]
    held = await asyncio.gather(*quick)
    # Where a change is not announced, it is only seen while nobody else changes the server.
    return dict([*held, *[await hold(*pair) for pair in planned if pair[1].saboteur.silent]])
