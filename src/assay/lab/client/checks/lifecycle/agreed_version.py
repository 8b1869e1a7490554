"""What other revisions have, and the agreed one has not, is not used."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import handshakes
from assay.lab.harness.check import check
from assay.lab.harness.trace.shape import known_of_clients
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import BY_DATE, REVISIONS


@check("The agreed version is kept to", rows=("LIFE-13",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for handshake in handshakes(trace):
        revision = BY_DATE.get(handshake.agreed or "")
        for message in handshake.later if revision is not None else ():
            # Methods that no revision has are a client's own business.
            if message.method and any(known_of_clients(message, one) for one in REVISIONS):
                assert revision is not None
                holds = known_of_clients(message, revision)
                expected = f"methods of {revision}"
                yield observe("LIFE-13", holds, message, handshake, expected=expected, observed=message)
