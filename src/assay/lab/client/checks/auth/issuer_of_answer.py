"""The issuer that an authorization answer names is held against the one that the client asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.authorization_answer import ANNOUNCED, STOPPED, Answered, answers
from assay.lab.client.authorization.journey import Journey
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

COMPARED, MISSING, AS_IT_IS = "AU-52", "AU-53", "AU-54"
ROWS: Final = (COMPARED, MISSING, AS_IT_IS)


@check("An authorization answer of another issuer is not taken", rows=ROWS)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for answer in answers(journey):
        row = _at_stake(answer, journey)
        if row is not None:
            taken = answer.taken(journey)
            observed = f"sent, although iss was {answer.issuer!r} from {answer.asked.spot.issuer}"
            yield observe(row, not taken, answer, *taken, expected=STOPPED, observed=observed)


def _at_stake(answer: Answered, journey: Journey) -> str | None:
    """The rule that forbids to take the answer; none where it is right, or the metadata was not read."""
    metadata, asked = journey.metadata_of(answer.asked.spot), answer.asked.spot.issuer
    if answer.issuer is None:
        return MISSING if metadata.get(ANNOUNCED) is True else None
    if answer.issuer == asked or not metadata:
        return None
    return AS_IT_IS if answer.issuer.rstrip("/") == asked.rstrip("/") else COMPARED
