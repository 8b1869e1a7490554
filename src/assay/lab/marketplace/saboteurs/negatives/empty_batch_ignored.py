"""An empty batch wants nothing, and gets it."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, on_batch


@on_batch("an empty batch is ignored", breaks="CONF-JRPC-03.batch")
def change(members: list[Any], context: FaultContext) -> list[Any] | Answered:
    return members or Answered([])
