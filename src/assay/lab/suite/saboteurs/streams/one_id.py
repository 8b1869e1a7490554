"""Events all have the id of their session."""

from __future__ import annotations

import re

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("all events have the same id", breaks="HTTP-32")
def change(block: bytes, context: FaultContext) -> bytes:
    return re.sub(rb"(?m)^id: .*$", b"id: of-this-session", block)
