"""Metadata of another issuer is not used."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.foreign_metadata import WANTED, used
from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "sep-2468-client-validate-metadata-issuer"


@official_check("auth/metadata-issuer-mismatch", "Metadata of another issuer", rows=(ROW, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    wanted = {ROW: f"a request for the metadata; then {WANTED}"}
    yield from walked(trace, used(Journey(trace), ROW), wanted=wanted)
