"""Batches are not known."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, on_batch
from assay.model.error import INVALID_REQUEST


@on_batch("a batch is refused", breaks="BASE-14")
def change(members: list[Any], context: FaultContext) -> Answered:
    error = {"code": INVALID_REQUEST, "message": "expected an object"}
    return Answered([{"jsonrpc": "2.0", "id": None, "error": error}])
