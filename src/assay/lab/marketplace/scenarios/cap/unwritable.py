"""Methods that would change a resource, tried on one that is not there."""

from __future__ import annotations

from assay.lab.harness.driver.choice import NOWHERE
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.checks.cap.unwritable import MADE_UP, WRITING
from assay.lab.marketplace.declaring import BOTH


@scenario(
    "Resources cannot be written to",
    exercises=("cap.unwritable",),
    needs=(declares("resources"),),
    transports=BOTH,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("resources/list")
    for method in (MADE_UP, *WRITING):
        # Without anything to write: a server that has the method finds fault with that, and changes nothing.
        await peer.request(method, {"uri": NOWHERE})
