"""Whether a client may refresh its tokens is between it and its authorization server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.challenge import bearer_challenge
from assay.lab.harness.trace.resource_metadata import documents
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

SCOPE: Final = "offline_access"
EXPECTED: Final = f"scopes without {SCOPE}"


@check("No server asks for offline access", rows=("AU-77",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        challenge = bearer_challenge(call.head)
        if challenge is not None and challenge.scopes:
            asked = challenge.scopes
            yield observe("AU-77", SCOPE not in asked, call, expected=EXPECTED, observed=" ".join(asked))
    for one in documents(trace):
        named = one.content.get("scopes_supported")
        if isinstance(named, list):
            yield observe("AU-77", SCOPE not in named, one.call, expected=EXPECTED, observed=f"{named!r}")
