"""Arrays of messages: several, one, none."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.scenario import scenario
from assay.lab.harness.stage import Stage
from assay.lab.harness.surroundings import REGISTRY
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.jrpc_bad_message import BadMessage, offer_each, plain_request

SIZES = (2, 1, 0)


@scenario("Messages in a batch", exercises=("negatives.batch", "negatives.recovers"), transports=BOTH)
async def drive(stage: Stage) -> None:
    if stage.surroundings.registry is not None:
        stage.note(REGISTRY, entry=stage.surroundings.registry)
    await offer_each(stage, _messages(stage))


def _messages(stage: Stage) -> Iterator[BadMessage]:
    for size in SIZES:
        ids = tuple(f"batch of {size}, {place}" for place in range(size))
        yield BadMessage("batch", f"a batch of {size}", [plain_request(stage, one) for one in ids], ids)
