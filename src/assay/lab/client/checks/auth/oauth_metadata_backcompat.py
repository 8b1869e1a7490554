"""The metadata on the endpoint's own origin is found and used."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.authorizing import OF_OLD
from assay.lab.client.authorization.official_auth import SHARED, WHOLE, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation


@official_check(
    f"{OF_OLD}oauth-metadata-backcompat",
    "The metadata on the endpoint's own origin is found and used",
    rows=SHARED,
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, owed=WHOLE)
