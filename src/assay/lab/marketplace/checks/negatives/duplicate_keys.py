"""A message that says a key twice is refused, or served once."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.jrpc_harm import unharmed

CASES = ("duplicate-keys",)


@profile_check("A key that is there twice does no harm", rows=tuple(f"CONF-JRPC-03.{case}" for case in CASES))
def judge(trace: Trace) -> Iterator[Observation]:
    return unharmed(trace, CASES)
