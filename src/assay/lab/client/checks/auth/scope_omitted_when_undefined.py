"""No scope is asked for where nobody names one."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import AUTHORIZATION, SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "scope-omitted-when-undefined"
WANTED = "no scope"


@official_check(
    "auth/scope-omitted-when-undefined", "No scope is asked for where nobody names one", rows=(ROW, *SHARED)
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _asked(Journey(trace)), owed=(AUTHORIZATION,), wanted={ROW: WANTED})


def _asked(journey: Journey) -> Iterator[Observation]:
    for stop in journey.authorizations:
        holds = not stop.scopes
        yield observe(ROW, holds, stop, expected=WANTED, observed=f"scope {stop.said.get('scope')!r}")
