"""Messages that are too much for a careless reader are refused or served."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.jrpc_harm import unharmed

CASES = ("deep-nesting", "huge-number")


@profile_check("Messages that are too much do no harm", rows=tuple(f"CONF-JRPC-03.{case}" for case in CASES))
def judge(trace: Trace) -> Iterator[Observation]:
    return unharmed(trace, CASES)
