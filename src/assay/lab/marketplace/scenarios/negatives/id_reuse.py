"""Two requests under one id at the same time."""

from __future__ import annotations

from contextlib import suppress

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.broken_off import NoAnswer
from assay.lab.harness.need import declares, either
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.jrpc_lists import LISTS

REUSED = "reused"
"""The name of the probe, and the id."""
A_LIST = either(declares("tools"), either(declares("prompts"), declares("resources")))


@scenario("An id that is in use", exercises=("negatives.id-reuse",), needs=(A_LIST,), transports=BOTH)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    listed = next(one for one in LISTS if stage.facts.declares(one.capability))
    async with peer.probe(REUSED):
        both = [await peer.start(method, request_id=REUSED) for method in (listed.method, stage.plain)]
        for pending in both:
            # The second may be ignored; the first is for the check to look for.
            with suppress(NoAnswer):
                await peer.answer(pending)
