"""Tokens are bound to a key of the client, which proves with each request that it has that key."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.bound_visits import OWED, PROVED, bound
from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation


@official_check("auth/dpop", "Tokens that are bound to a key", rows=(*PROVED, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, bound(Journey(trace)), wanted=OWED)
