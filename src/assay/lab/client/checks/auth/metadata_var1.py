"""Both kinds of metadata are found without being told where."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.official_auth import PRM, SHARED, WHOLE, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation


@official_check("auth/metadata-var1", "Metadata at well-known addresses", rows=SHARED)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, owed=(PRM, *WHOLE))
