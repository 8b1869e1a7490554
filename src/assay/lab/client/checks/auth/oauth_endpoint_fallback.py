"""The endpoints that every server had are used where there is no metadata."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.authorizing import OF_OLD
from assay.lab.client.authorization.official_auth import AUTHORIZATION, REGISTRATION, SHARED, TOKEN, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation


@official_check(
    f"{OF_OLD}oauth-endpoint-fallback",
    "The endpoints that every server had are used where there is no metadata",
    rows=SHARED,
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, owed=(REGISTRATION, AUTHORIZATION, TOKEN))
