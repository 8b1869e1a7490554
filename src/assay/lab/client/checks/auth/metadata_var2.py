"""The metadata of an issuer with a path is not asked for without that path."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import SHARED, WHOLE, walked
from assay.lab.client.authorization.rootless import ROW, rootless
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation


@official_check("auth/metadata-var2", "Metadata of an issuer with a path", rows=(ROW, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, rootless(Journey(trace)), owed=WHOLE)
