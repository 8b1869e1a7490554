"""The metadata of an issuer with a path is not asked for without that path."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.verdict import Observation, observe

from .journey import OAUTH, Journey, path_in

ROW = "authorization-server-metadata-wrong-path"


def rootless(journey: Journey) -> Iterator[Observation]:
    for spot in journey.spots:
        for call in journey.documents_of(spot) if spot.tenant else ():
            at = path_in(call)
            expected = f"the path {spot.tenant} of the issuer in the address"
            yield observe(ROW, at != OAUTH, call, expected=expected, observed=f"asked for at {at}")
