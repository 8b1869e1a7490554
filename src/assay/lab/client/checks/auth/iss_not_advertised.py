"""An answer without `iss` is taken where none is announced."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.authorization_answer import accepted
from assay.lab.client.authorization.official_auth import SHARED
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "sep-2468-client-proceed-no-iss"


@official_check("auth/iss-not-advertised", "Nobody says who answers", rows=(ROW, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from accepted(trace, ROW)
