"""Each stream counts its events from the beginning."""

from __future__ import annotations

import re

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("event ids are counted anew on each stream", breaks="HTTP-32")
def change(block: bytes, context: FaultContext) -> bytes:
    return re.sub(rb"(?m)^id: \d+-", b"id: ", block)
