"""A tool is called with the arguments that its schema wants."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.owed import with_owed
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "tool-add-numbers"
WANTED = "numbers for `a` and `b`"


@official_check("tools_call", "The tool is called with two numbers", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from with_owed(trace, _seen(trace), {ROW: f"a call of add_numbers, with {WANTED}"})


def _seen(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.inquiries("tools/call"):
        if exchange.params.get("name") != "add_numbers":
            continue
        given = exchange.params.get("arguments")
        values = [given.get(key) for key in ("a", "b")] if isinstance(given, dict) else [None, None]
        holds = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
        yield observe(ROW, holds, exchange, expected=WANTED, observed=f"arguments {given}")
