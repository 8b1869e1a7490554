"""What is JSON, but no request, is refused as such."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.jrpc_refusal import refused

CASES = ("version", "method", "params")


@profile_check("What is nearly a request is refused", rows=tuple(f"CONF-JRPC-03.{case}" for case in CASES))
def judge(trace: Trace) -> Iterator[Observation]:
    return refused(trace, CASES)
