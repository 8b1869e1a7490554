"""Batches are served though nobody listed them."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, on_batch


@on_batch("a batch is served", breaks="CONF-JRPC-03.batch")
def change(members: list[Any], context: FaultContext) -> list[Any] | Answered:
    if not members:
        return members
    return Answered([encode([{"jsonrpc": "2.0", "id": one["id"], "result": {}} for one in members])])
