"""Keys of `_meta` are named as the grammar wants: the same rule as for servers."""

from __future__ import annotations

from collections.abc import Iterable

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.checks.jsonrpc import meta_keys


@check("Keys of `_meta` follow the grammar", rows=("META-01", "META-02", "META-04"), everywhere=True)
def judge(trace: Trace) -> Iterable[Observation]:
    return meta_keys.judge.judge(trace)
