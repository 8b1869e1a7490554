"""A batch is answered with a batch, even if nothing in it wants an answer."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, on_batch
from assay.model.error import INVALID_REQUEST
from assay.revisions.revision import Batching


@on_batch(
    "a batch of notifications is answered",
    breaks="BASE-10",
    scenario="jsonrpc.batch",
    window=lambda revision: revision.batching is Batching.ACCEPTED,
)
def change(members: list[Any], context: FaultContext) -> list[Any] | Answered:
    if any("id" in member for member in members):
        return members
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": "no id"}}
    return Answered([encode([error for _ in members])])
