"""A token that is good elsewhere is not good here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import FOREIGN, OTHER_ISSUER
from assay.lab.harness.trace.admission import calls_with, is_let_in, told
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import GUARDED
from assay.lab.harness.verdict import Observation, observe

ROWS: Final = {FOREIGN: ("AU-64", "AU-66", "SEC-05"), OTHER_ISSUER: ("AU-66",)}


@check("A token for another server is refused", rows=("AU-64", "AU-66", "SEC-05"), transports=GUARDED)
def judge(trace: Trace) -> Iterator[Observation]:
    for kind, call in calls_with(trace, *ROWS):
        for row in ROWS[kind]:
            seen = f"{told(call)} for a token that is {kind}"
            yield observe(row, not is_let_in(call), call, expected="a refusal", observed=seen)
