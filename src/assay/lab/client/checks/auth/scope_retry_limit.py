"""Who is refused again and again gives up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "scope-retry-limit"
MOST: Final = 3


@official_check("auth/scope-retry-limit", "The client gives up", rows=(ROW, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    wanted = f"authorization requests, {MOST} at most"
    yield from walked(trace, _counted(Journey(trace), wanted), wanted={ROW: wanted})


def _counted(journey: Journey, wanted: str) -> Iterator[Observation]:
    made = journey.authorizations
    if made:
        yield observe(ROW, len(made) <= MOST, *made, expected=wanted, observed=f"{len(made)} of them")
