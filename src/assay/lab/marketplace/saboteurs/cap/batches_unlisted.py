"""A batch is answered, and the registry says that none is."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, on_batch
from assay.revisions.revision import Batching


@on_batch(
    "batches are taken that the registry entry does not list",
    breaks="CONF-CAP-03.registry.agree",
    window=lambda revision: revision.batching is not Batching.REFUSED,
)
def change(messages: list[Any], context: FaultContext) -> list[Any] | Answered:
    answers = [{"jsonrpc": "2.0", "id": one["id"], "result": {}} for one in messages if "id" in one]
    return Answered([answers])
