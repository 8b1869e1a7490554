"""The framing of the Language Server Protocol."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_line


@on_line("a `Content-Length` header comes before each message", breaks="STD-02")
def change(line: bytes, context: FaultContext) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(line) + line
