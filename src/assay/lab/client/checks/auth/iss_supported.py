"""An answer with the right `iss` is taken."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.authorization_answer import accepted
from assay.lab.client.authorization.official_auth import SHARED
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "sep-2468-client-compare-iss-supported"


@official_check("auth/iss-supported", "The issuer that answers is the right one", rows=(ROW, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from accepted(trace, ROW)
