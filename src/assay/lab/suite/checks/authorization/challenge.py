"""Whoever is not let in is told where to get a token, and for which scopes."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import NONE
from assay.lab.harness.trace.admission import calls_with, is_opening
from assay.lab.harness.trace.challenge import HEADER, METADATA, bearer_challenge
from assay.lab.harness.trace.resource_metadata import documents
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import GUARDED
from assay.lab.harness.verdict import Observation, observe


@check("A refusal is a challenge", rows=("AU-09", "AU-14"), transports=GUARDED)
def judge(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if not is_opening(call) or call.status != 401 or call.head is None:
            continue
        challenge = bearer_challenge(call.head)
        seen = ", ".join(call.head.all(HEADER)) or "no challenge"
        place = "" if challenge is None else challenge.params.get(METADATA, "")
        scopes = [] if challenge is None else challenge.scopes
        named = place.startswith(("https://", "http://"))
        yield observe("AU-09", named, call, expected=f"Bearer with the URL as {METADATA}", observed=seen)
        if scopes or _has_scopes(trace):
            yield observe("AU-14", bool(scopes), call, expected="Bearer with a scope", observed=seen)


def _has_scopes(trace: Trace) -> bool:
    """Whether there are any: who has none cannot name one."""
    return any(one.content.get("scopes_supported") for one in documents(trace))
