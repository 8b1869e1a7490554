"""Every request repeats its method in a header, and its name or address where it has one."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import HANDSHAKING
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import VERSION, standard_mirrors

ROW = "sep-2243-client-includes-standard-headers"


@official_check("http-standard-headers", "Headers repeat method and name", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if any(one.method in HANDSHAKING for one in call.asked):
            continue
        for mirror in standard_mirrors(call, trace.revision):
            if mirror.header == VERSION:
                continue
            told = f"{mirror.header} {mirror.given!r}" if mirror.given is not None else f"no {mirror.header}"
            yield observe(
                ROW, mirror.flaw is None, call, expected=f"{mirror.header}: {mirror.told}", observed=told
            )
