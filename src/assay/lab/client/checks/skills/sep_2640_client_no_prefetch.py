"""Files of a skill are read when it is loaded, and no sooner."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.fixtures.skill import TEXTS, listings, reads
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "sep-2640-host-no-prefetch"


@official_check("sep-2640-client-no-prefetch", "No file of a skill is read ahead of need", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    read = reads(trace, *TEXTS)
    for one in read:
        told = f"a read of {one.params.get('uri')}"
        yield observe(ROW, False, one, expected="no read of a skill that is not loaded", observed=told)
    for listing in listings(trace):
        if not read:
            yield observe(ROW, True, listing, expected="", observed="")
