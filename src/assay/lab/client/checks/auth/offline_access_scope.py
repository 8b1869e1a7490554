"""A client that wants refresh tokens says so when it registers, and may ask for their scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import AUTHORIZATION, SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

GRANTS, ASKED = "sep-2207-client-metadata-grant-types", "sep-2207-offline-access-requested"
REFRESH: Final = "refresh_token"


@official_check(
    "auth/offline-access-scope",
    "The authorization server has refresh tokens",
    rows=(GRANTS, ASKED, *SHARED),
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    # To ask for the scope is left to the client: who does not, shows nothing.
    owed = {} if journey.authorizations else {ASKED: "an authorization request"}
    yield from walked(trace, _seen(journey), owed=(AUTHORIZATION,), wanted=owed)


def _seen(journey: Journey) -> Iterator[Observation]:
    for stop in journey.registrations:
        named = stop.said.get("grant_types")
        holds = isinstance(named, list) and REFRESH in named
        yield observe(GRANTS, holds, stop, expected=f"grant_types with {REFRESH}", observed=f"{named}")
    for stop in journey.authorizations:
        if "offline_access" in stop.scopes:
            yield observe(ASKED, True, stop, expected="", observed="")
