"""An answer without `iss` is not taken where one is announced."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.authorization_answer import refused
from assay.lab.client.authorization.official_auth import SHARED
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "sep-2468-client-reject-missing-iss"


@official_check("auth/iss-supported-missing", "The answer does not say who gives it", rows=(ROW, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from refused(trace, ROW)
