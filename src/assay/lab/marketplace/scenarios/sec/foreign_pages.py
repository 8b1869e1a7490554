"""What a browser on this machine would send for pages of other sites, and for one whose name was rebound."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import LOCAL
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY

FOREIGN = "https://pages.example"
ALIKE = "http://localhost.pages.example"
"""Begins like a name of this machine."""
REBOUND = "pages.example"
"""The host of a page whose name was made to point here: a browser need not send an Origin then."""
SENT = ({"Origin": FOREIGN}, {"Origin": ALIKE}, {"Host": REBOUND}, {"Host": REBOUND, "Origin": FOREIGN})


@scenario(
    "A page of another site asks", exercises=("sec.foreign-pages",), needs=(LOCAL,), transports=HTTP_ONLY
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    # The control: the same request of nobody's page.
    await peer.request(stage.plain)
    for headers in SENT:
        pending = await peer.start(stage.plain, headers=headers)
        assert pending.sent is not None
        await pending.sent.settled(peer.patience)
