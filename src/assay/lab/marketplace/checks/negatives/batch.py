"""A batch is refused, unless the registry entry lists batches and the revision has them."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.subject.out_of_band import REGISTRY
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.jrpc_attempt import Attempt, attempts
from assay.lab.marketplace.jrpc_batching import batches_are_welcome
from assay.lab.marketplace.jrpc_refusal import BATCH

ROW = "CONF-JRPC-03.batch"


@profile_check("Batches are refused unless they are listed", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    entries = (one.info.get("entry") for one in trace.marks(REGISTRY))
    welcome = any(batches_are_welcome(entry, trace.revision) for entry in entries)
    for attempt in attempts(trace):
        if attempt.case == "batch":
            # One of nothing is invalid by JSON-RPC itself.
            if welcome and _ids(attempt, trace):
                expected = "a result for each request of a batch, which the registry entry lists"
                right = _is_served(attempt, trace)
            else:
                expected, right = f"{BATCH}", BATCH.takes(attempt)
            yield observe(ROW, right, attempt, expected=expected, observed=attempt)


def _ids(attempt: Attempt, trace: Trace) -> list[str]:
    """Of the requests in the batch."""
    inside = {one.n for one in attempt.inside}
    sent = [one for one in trace.messages if not one.by_subject and one.frame.n in inside]
    return [one.id for one in sent if one.place is not None and isinstance(one.id, str)]


def _is_served(attempt: Attempt, trace: Trace) -> bool:
    answered = [one.id for one in attempt.answers if "result" in one.fields]
    return sorted(map(str, answered)) == sorted(_ids(attempt, trace))
