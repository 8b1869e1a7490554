"""A scope that the authorization server does not have is not asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "sep-2207-offline-access-not-requested"
WANTED: Final = "an authorization request without the scope offline_access"


@official_check(
    "auth/offline-access-not-supported", "The authorization server has no refresh tokens", rows=(ROW, *SHARED)
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _asked(Journey(trace)), wanted={ROW: WANTED})


def _asked(journey: Journey) -> Iterator[Observation]:
    for stop in journey.authorizations:
        observed = f"scope {stop.said.get('scope')!r}"
        yield observe(ROW, "offline_access" not in stop.scopes, stop, expected=WANTED, observed=observed)
