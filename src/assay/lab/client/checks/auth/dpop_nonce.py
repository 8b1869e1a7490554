"""A proof is made again with the nonce that authorization server or resource asks for."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.bound_visits import (
    AT_RESOURCE,
    AT_SERVER,
    OWED,
    OWED_NONCES,
    PROVED,
    bound,
    nonces,
)
from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation


@official_check("auth/dpop-nonce", "Proofs with a nonce", rows=(*PROVED, AT_SERVER, AT_RESOURCE, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    yield from walked(trace, [*bound(journey), *nonces(journey)], wanted={**OWED, **OWED_NONCES})
