"""A refresh token goes to nobody but the authorization server that gave it out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.journey import Journey, Stop
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "AU-76"
EXPECTED: Final = (
    "the refresh token nowhere but in the body of requests to the token endpoint that gave it out"
)


@check("A refresh token is kept confidential", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.exchanges:
        token = stop.told.get("refresh_token")
        if stop.call.status == 200 and isinstance(token, str) and token:
            later = [call for call in trace.calls if call.request.n > stop.n]
            shown = [call for call in later if _shows(call, token, stop)]
            if later:
                observed = "".join(f"it goes to {call.sent.target.partition('?')[0]}" for call in shown[:1])
                yield observe(ROW, not shown, stop, *shown[:1], expected=EXPECTED, observed=observed)


def _shows(call: Call, token: str, source: Stop) -> bool:
    if token.encode() not in call.request.raw:
        return False
    head, _, _ = call.request.raw.partition(b"\r\n\r\n")
    at_home = call.request.connection == source.call.request.connection
    return not at_home or call.sent.method != "POST" or token.encode() in head
