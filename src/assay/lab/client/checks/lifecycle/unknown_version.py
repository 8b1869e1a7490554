"""A client leaves a server that answers with a version that nobody speaks."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import handshakes, is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import BY_DATE


@check("A client leaves a server whose version it cannot speak", rows=("LIFE-12",))
def judge(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        if handshake.agreed is None or handshake.agreed in BY_DATE or not is_over(trace):
            continue
        said = [one for one in handshake.later if one.method and one.frame.n > handshake.answered]
        expected = f"nothing after an answer with version {handshake.agreed}"
        observed = ", ".join(map(str, said[:3]))
        yield observe("LIFE-12", not said, handshake, *said[:3], expected=expected, observed=observed)
