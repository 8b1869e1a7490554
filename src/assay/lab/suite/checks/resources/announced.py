"""Changes are announced to those who asked to hear of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.driver.list_change import LISTS, UPDATED
from assay.lab.harness.trace.trace import NOT_HEARD, Trace
from assay.lab.harness.verdict import Observation, observe

ROWS: Final = {LISTS["resources"][0]: ("RS-02",), UPDATED: ("RS-03", "RS-04")}


@check("Changes of resources are announced", rows=("RS-02", "RS-03", "RS-04"))
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        for row in ROWS.get(message.method, ()):
            yield observe(row, True, message, expected="an announcement", observed=message)
    for mark in trace.marks(NOT_HEARD):
        for row in ROWS.get(str(mark.info.get("method")), ()):
            yield observe(
                row,
                False,
                mark,
                expected=f"{mark.info.get('method')} after the change that two readings show",
                observed=f"none within {mark.info.get('waited')} s",
            )
