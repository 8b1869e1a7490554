"""Requests that a browser would send for a page of another site, and for one whose name was rebound."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import LOCAL
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import Transport

FOREIGN = "http://evil.example"
ALIKE = "http://localhost.evil.example"
"""Begins like a name of this machine."""
REBOUND = {"Host": "evil.example", "Origin": FOREIGN}
"""What a browser sends after the name of a page was made to point here."""


@scenario(
    "Requests from pages of other sites",
    exercises=("http.foreign-origin",),
    needs=(LOCAL,),
    transports=frozenset({Transport.HTTP, Transport.HTTP_SSE}),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    # The control: the same request without an origin.
    await peer.request(stage.plain)
    for headers in ({"Origin": FOREIGN}, {"Origin": ALIKE}, REBOUND):
        pending = await peer.start(stage.plain, headers=headers)
        assert pending.sent is not None
        await pending.sent.settled(peer.patience)
    if stage.transport is Transport.HTTP and stage.revision.http.sessions:
        await peer.taken(await peer.http.listen(Origin=FOREIGN))
