"""What any server can be asked, until it says that the scope of the token is too small."""

from __future__ import annotations

from collections.abc import AsyncIterator

from assay.lab.harness import Stage
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.safe_request import SafeRequest, errands
from assay.lab.harness.driver.try_open import ask

FORBIDDEN = 403


async def requests(stage: Stage, peer: Peer) -> AsyncIterator[tuple[SafeRequest | None, Reply]]:
    """The opening, and, where that was good enough, errands; each with what came of it."""
    opened = await ask(stage, peer)
    yield None, opened
    if opened.is_result:
        for errand in errands(stage.facts):
            yield errand, await errand.ask(peer)


async def first_refused(stage: Stage, peer: Peer) -> tuple[SafeRequest | None, Reply] | None:
    """None where everything was allowed."""
    async for errand, reply in requests(stage, peer):
        if reply.status == FORBIDDEN:
            return errand, reply
    return None
