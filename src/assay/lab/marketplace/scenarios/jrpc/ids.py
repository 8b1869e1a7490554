"""Ids of every kind that the rules allow, one that they do not, and many requests in flight at once."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.jrpc_bad_message import plain_request
from assay.lab.marketplace.jrpc_lists import LISTS

IDS = (0, -1, 7, 2**53 - 1, "", "7", "007", "null", "Grüße, 世界 🦊", "a" * 300)
NULL_ID = "null id"
AT_ONCE = "at once"
"""Names of probes."""
ROUNDS = 3


@scenario("Ids of every kind", exercises=("jrpc.ids", "jrpc.null-id", "jrpc.at-once"), transports=BOTH)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for one in IDS:
        await peer.request(stage.plain, request_id=one)
    async with peer.probe(NULL_ID):
        await peer.offer({**plain_request(stage, ""), "id": None})
    methods = [one.method for one in LISTS if stage.facts.declares(one.capability)]
    async with peer.probe(AT_ONCE):
        sent = [
            await peer.start(method, request_id=f"{method} {number}")
            for number in range(ROUNDS)
            for method in (stage.plain, *methods)
        ]
        for pending in sent:
            await peer.answer(pending)
