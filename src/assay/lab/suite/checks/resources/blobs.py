"""Binary data is in Base64, with its own alphabet and its padding."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.content_block import is_base64


@check("Binary contents are valid Base64", rows=("RS-14",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/read"):
        for item in exchange.objects("contents"):
            if "blob" in item:
                told = repr(item["blob"])[:60]
                yield observe("RS-14", is_base64(item["blob"]), exchange, expected="Base64", observed=told)
