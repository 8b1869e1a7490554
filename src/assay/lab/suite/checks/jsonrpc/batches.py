"""Where the revision has batches, each request in one is answered like any other."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_REQUEST, PARSE_ERROR

REFUSED = (INVALID_REQUEST, PARSE_ERROR)


@check("Batches are accepted", rows=("BASE-14",))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("batch"):
        for request in probe.sent:
            if request.place is not None and "id" in request.fields:
                answer = next((one for one in probe.answers if same_id(one.id, request.id)), None)
                yield observe(
                    "BASE-14",
                    answer is not None and answer.code not in REFUSED,
                    probe,
                    expected=f"an answer to the request with id {request.id!r} in the batch",
                    observed=answer or next(iter(probe.answers), "no answer"),
                )
