"""The address of the client's metadata document is its id where such are taken."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import AUTHORIZATION, SHARED, walked
from assay.lab.client.authorization.protected import CIMD
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "cimd-client-id-used"
WANTED = f"client_id {CIMD}"


@official_check("auth/basic-cimd", "A client id that is the address of a document", rows=(ROW, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _used(Journey(trace)), owed=(AUTHORIZATION,), wanted={ROW: WANTED})


def _used(journey: Journey) -> Iterator[Observation]:
    for stop in journey.authorizations:
        name = stop.said.get("client_id")
        yield observe(ROW, name == CIMD, stop, expected=WANTED, observed=f"client_id {name}")
