"""Every answer is put into an array, as if it had been a batch."""

from __future__ import annotations

from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.revision import Batching


@on_reply(
    "a message comes as an array of one",
    breaks="BASE-01",
    window=lambda revision: revision.batching is Batching.REFUSED,
)
def change(reply: Json, context: FaultContext) -> bytes:
    return encode([reply])
