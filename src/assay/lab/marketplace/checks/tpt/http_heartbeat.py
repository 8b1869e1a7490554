"""A stream shows that it is alive."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.links.event_stream import has_comment
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.tpt_idle import SILENT

ROW = "CONF-TPT-01.http.heartbeat"
LONGEST = 30.0


@profile_check("Comments on a silent stream", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    silent = {mark.info.get("stream"): mark for mark in trace.marks(SILENT)}
    for call in trace.calls:
        mark = silent.get(call.channel)
        beats = _has_beat(call)
        if beats or (mark is not None and (call.is_stream or call.head is None)):
            waited = "" if mark is None else mark.info.get("waited")
            yield observe(
                ROW,
                beats,
                call,
                *filter(None, (mark,)),
                expected=f"a comment at least every {LONGEST:g} s",
                observed=f"none in {waited} s",
            )


def _has_beat(call: Call) -> bool:
    return any(frame.kind is Kind.EVENT and has_comment(frame.raw) for frame in call.received)
