"""A conversation is begun without a token, and one that was begun with one is gone on with without."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import NONE
from assay.lab.harness.transport import HTTP_ONLY

BARE = {"Authorization": None}


@scenario("Nobody shows a token", exercises=("sec.no-token",), needs=(PROTECTED,), transports=HTTP_ONLY)
async def drive(stage: Stage) -> None:
    peer = await come_in(stage)
    await try_open(stage, NONE)
    # Who knows the id of a session is not yet whom it belongs to.
    pending = await peer.start(stage.plain, headers=BARE)
    assert pending.sent is not None
    await pending.sent.settled(peer.patience)
    if stage.revision.http.sessions:
        await peer.taken(await peer.http.listen(**BARE))
