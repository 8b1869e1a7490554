"""An authorization endpoint that is no https address, nor http on the loopback, is not opened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.fixtures.canary import CANARY
from assay.lab.harness.check import check
from assay.lab.harness.links.http_call import LOOPBACK
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "SEC-08"
WANTED: Final = "no request to an authorization endpoint that is neither https nor on the loopback"


@check("Only safe authorization addresses are opened", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for spot in journey.spots:
        address = str(journey.metadata_of(spot).get("authorization_endpoint") or "")
        if address and not is_safe(address):
            opened = [call for call in trace.calls if call.request.connection == CANARY]
            read = journey.documents_of(spot)[:1]
            observed = f"a request, although the metadata says {address}"
            yield observe(ROW, not opened, *read, *opened[:1], expected=WANTED, observed=observed)


def is_safe(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    except ValueError:
        return False
