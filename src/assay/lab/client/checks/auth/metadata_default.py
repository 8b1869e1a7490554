"""The metadata of the resource is asked for where the challenge says, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey, path_in
from assay.lab.client.authorization.official_auth import PRM, SHARED, WHOLE, walked
from assay.lab.client.authorization.protected import ROOT
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "prm-priority-order"


@official_check("auth/metadata-default", "Metadata where the challenge says", rows=(ROW, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _order(Journey(trace)), owed=(PRM, *WHOLE))


def _order(journey: Journey) -> Iterator[Observation]:
    for call in journey.resource_documents:
        at = path_in(call)
        expected = "the metadata asked for where the challenge says, not at the root"
        yield observe(ROW, at != ROOT, call, expected=expected, observed=f"asked for at {at}")
