"""What is no JSON, and what is no request, is refused with the code that JSON-RPC has for it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.excuse import is_sound
from assay.lab.harness.message import Message, Shape
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model import error
from assay.revisions.revision import Opening, Revision

# HTTP looks at headers first, and a message without `_meta` is refused for that where every one must have it.
EARLIER = {
    Opening.HANDSHAKE: frozenset[int](),
    Opening.PER_REQUEST: frozenset({error.HEADER_MISMATCH, error.UNSUPPORTED_VERSION, error.INVALID_PARAMS}),
}


@check("What cannot be served is refused with its own code", rows=("RPC-01",))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("malformed"):
        sent = next(iter(probe.sent), None)
        for answer in probe.answers:
            if sent is not None and answer.shape is Shape.ERROR and not is_sound(sent):
                right = _codes(sent, trace.revision)
                expected = f"error {' or '.join(map(str, sorted(right)))}"
                yield observe("RPC-01", answer.code in right, probe, expected=expected, observed=answer)


def _codes(sent: Message, revision: Revision) -> frozenset[int]:
    if sent.value is None:
        return EARLIER[revision.opening] | {error.PARSE_ERROR}
    # Parameters that are no object may be told from a request that is none.
    odd_params = {error.INVALID_PARAMS} if "params" in sent.fields else set()
    return EARLIER[revision.opening] | {error.INVALID_REQUEST} | odd_params
