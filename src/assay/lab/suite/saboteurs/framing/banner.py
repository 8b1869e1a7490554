"""A greeting for whoever reads standard output."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_line


@on_line("a banner comes before the first message", breaks="STD-02")
def change(line: bytes, context: FaultContext) -> bytes:
    first = not context.memory
    context.memory["begun"] = True
    return b"Server started.\n" + line if first else line
