"""Error codes come from where they may: the reserved range is divided, and most of it is not free."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe
from assay.model import error

STANDARD = frozenset(
    {
        error.PARSE_ERROR,
        error.INVALID_REQUEST,
        error.METHOD_NOT_FOUND,
        error.INVALID_PARAMS,
        error.INTERNAL_ERROR,
    }
)
DEFINED = frozenset({error.HEADER_MISMATCH, error.MISSING_CAPABILITY, error.UNSUPPORTED_VERSION})
# Codes that earlier revisions gave a meaning have a requirement of their own: BASE-24.
OLD = frozenset({-32002, -32042})
HEADED = (Transport.HTTP, Transport.HTTP_SSE)
# Which requirement governs a range, and what may be used of it.
RANGES = (
    ("BASE-21", range(-32019, -31999), OLD, "no code from -32019 to -32000"),
    ("BASE-23", range(-32099, -32019), DEFINED | OLD, "a code that the specification defines"),
    ("BASE-25", range(-32768, -32099), STANDARD, "a code outside -32768 to -32000"),
)


@check("Error codes keep to their ranges", rows=("BASE-21", "BASE-23", "BASE-25"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.spoken:
        if not message.is_response or type(message.code) is not int:
            continue
        for row, codes, allowed, expected in RANGES:
            holds = message.code not in codes or message.code in allowed
            yield observe(row, holds, message, expected=expected, observed=message)
        if message.code == error.HEADER_MISMATCH:
            expected = "no complaint about headers where there are none"
            yield observe("BASE-23", trace.transport in HEADED, message, expected=expected, observed=message)
