"""A client that is given the version that it offered goes on."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import handshakes, is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("The offered version is one that the client speaks", rows=("LIFE-07",))
def judge(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        same = handshake.agreed is not None and handshake.agreed == handshake.offered
        if same and (handshake.later or is_over(trace)):
            expected = f"the client to go on in {handshake.offered}, which it offered"
            yield observe("LIFE-07", bool(handshake.later), handshake, expected=expected, observed="it left")
