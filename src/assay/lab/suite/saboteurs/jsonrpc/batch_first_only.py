"""Of a batch only the first message is read."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.sabotage.saboteur import FaultContext, on_batch


@on_batch("only the first request of a batch is answered", breaks="BASE-14", silent=True)
def change(members: list[Any], context: FaultContext) -> list[Any]:
    return members[:1]
