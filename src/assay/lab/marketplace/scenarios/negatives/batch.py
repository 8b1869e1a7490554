"""Arrays of messages: several, one, none."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.out_of_band import REGISTRY
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.jrpc_bad_message import BadMessage, offer_each, plain_request
from assay.lab.marketplace.jrpc_batching import batches_are_welcome

SIZES = (2, 1, 0)


@scenario("Messages in a batch", exercises=("negatives.batch", "negatives.recovers"), transports=BOTH)
async def drive(stage: Stage) -> None:
    entry = stage.surroundings.registry
    if entry is not None:
        stage.note(REGISTRY, entry=entry)
    await offer_each(stage, _messages(stage, welcome=batches_are_welcome(entry, stage.revision)))


def _messages(stage: Stage, *, welcome: bool) -> Iterator[BadMessage]:
    for size in SIZES:
        ids = tuple(f"batch of {size}, {place}" for place in range(size))
        members = [plain_request(stage, one) for one in ids]
        yield BadMessage("batch", f"a batch of {size}", members, ids, answered=welcome)
