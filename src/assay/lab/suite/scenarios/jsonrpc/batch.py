"""Several messages in one array: accepted where the revision has batches, and later no reason for another."""

from __future__ import annotations

import contextlib

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.broken_off import NoAnswer
from assay.lab.harness.scenario import scenario
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Batching, Revision

FIRST = next(place for place, one in enumerate(REVISIONS) if one.batching is Batching.ACCEPTED)


def _knows_of_batches(revision: Revision) -> bool:
    """Before them an array was neither allowed nor forbidden."""
    return REVISIONS.index(revision) >= FIRST


@scenario(
    "Messages in a batch",
    exercises=("jsonrpc.batches", "jsonrpc.silent-notifications", "jsonrpc.version"),
    window=_knows_of_batches,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    params = declared(stage.revision, {}, {})
    request = {"jsonrpc": "2.0", "method": stage.plain, "params": params}
    # One that every server knows: whether an unknown one is ignored is another question.
    cancelled = {"requestId": "no-such-request"}
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}
    await peer.request(stage.plain)
    if stage.revision.batching is Batching.REFUSED:
        async with peer.probe("refused batch"):
            await peer.offer([{**request, "id": "first"}, {**request, "id": "second"}])
        return
    async with peer.probe("batch"):
        # Silence is for the check to judge, after the sentinel.
        with contextlib.suppress(NoAnswer):
            await peer.batch({**request, "id": "first"}, notification, {**request, "id": "second"})
    async with peer.probe("notification", what="a batch of them"):
        await peer.offer([notification, notification])
