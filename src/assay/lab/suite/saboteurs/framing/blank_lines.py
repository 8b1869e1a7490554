"""Every message is followed by an empty line, as `print` and a newline of its own would do."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_line


@on_line("an empty line follows each message", breaks="STD-02")
def change(line: bytes, context: FaultContext) -> bytes:
    return line + b"\n"
