"""Metadata that names another issuer than the one whose it should be, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.trace import Call
from assay.lab.harness.verdict import Observation, observe

from .journey import Journey, Spot, content

WANTED: Final = "none of the endpoints in it is used"


def used(journey: Journey, row: str) -> Iterator[Observation]:
    """One observation for each authorization server whose metadata was read and is of another issuer."""
    for spot in journey.spots:
        read = [call for call in journey.documents_of(spot) if _is_foreign(call, spot)]
        if read:
            stops = [*journey.registrations, *journey.authorizations, *journey.exchanges]
            gone = [stop for stop in stops if stop.spot == spot and stop.n > read[0].request.n]
            observed = (
                f"issuer {content(read[0]).get('issuer')!r}, not {spot.issuer!r}, and a request goes to "
            )
            observed += ", ".join(sorted({stop.call.sent.target.partition("?")[0] for stop in gone}))
            yield observe(row, not gone, read[0], *gone[:3], expected=WANTED, observed=observed)


def _is_foreign(call: Call, spot: Spot) -> bool:
    told = content(call)
    return call.status == 200 and bool(told) and told.get("issuer") != spot.issuer
