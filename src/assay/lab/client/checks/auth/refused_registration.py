"""A client whose registration was refused does not go on as if it were registered, nor ask for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.credentials import REGISTRY, client_of
from assay.lab.client.authorization.journey import Journey, Stop
from assay.lab.client.authorization.protected import CIMD
from assay.lab.harness.check import check
from assay.lab.harness.links.http_text import body_of
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "AU-46"
MOST: Final = 3
"""How often the very same registration may be tried: each step of a client may begin anew."""
EXPECTED: Final = "no request under a name that nobody gave out, and no endless row of registrations"


@check("A refused registration is handled", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    refused = [call for call in trace.calls if call.request.connection == REGISTRY]
    if not refused:
        return
    journey = Journey(trace)
    stops = [stop for stop in (*journey.authorizations, *journey.exchanges) if _is_made_up(stop)]
    again = _repeated(refused)
    observed = [f"client_id {client_of(stop)!r}" for stop in stops[:1]]
    observed += [f"{again} times the same registration"] if again > MOST else []
    holds = not stops and again <= MOST
    yield observe(ROW, holds, *refused[:1], *stops[:1], expected=EXPECTED, observed=", ".join(observed))


def _is_made_up(stop: Stop) -> bool:
    """The address of its document a client may try anywhere."""
    return client_of(stop) != CIMD


def _repeated(refused: list[Call]) -> int:
    return max(Counter(body_of(call.request.raw) for call in refused).values())
