"""Credentials that the client was given are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.client.authorization.token_endpoint import credentials
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "pre-registration-auth"
WANTED: Final = "a token request with the credentials that the client was given, by HTTP Basic"


@official_check("auth/pre-registration", "Credentials that the client was given", rows=(ROW, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _used(Journey(trace)), wanted={ROW: WANTED})


def _used(journey: Journey) -> Iterator[Observation]:
    given = tuple(journey.context.get(key) for key in ("client_id", "client_secret"))
    for stop in journey.exchanges:
        shown = credentials(stop)
        observed = "no such header" if shown is None else f"client_id {shown[0]}, and a secret"
        yield observe(ROW, shown == given, stop, expected=WANTED, observed=observed)
