"""The scope of the challenge is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import AUTHORIZATION, SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "scope-from-www-authenticate"
WANTED = "a scope with mcp:basic, as the challenge says"


@official_check(
    "auth/scope-from-www-authenticate", "The scope of the challenge is asked for", rows=(ROW, *SHARED)
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _asked(Journey(trace)), owed=(AUTHORIZATION,), wanted={ROW: WANTED})


def _asked(journey: Journey) -> Iterator[Observation]:
    for stop in journey.authorizations:
        holds = "mcp:basic" in stop.scopes
        yield observe(ROW, holds, stop, expected=WANTED, observed=f"scope {stop.said.get('scope')!r}")
