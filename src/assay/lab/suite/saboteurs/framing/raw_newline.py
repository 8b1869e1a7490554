"""JSON put together by hand: a newline in a text is written as it is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, newest_of_each_kind, on_line


@on_line(
    "a newline in a text is not escaped",
    breaks="STD-01",
    scenario="framing.lines",
    window=newest_of_each_kind,
    silent=True,
)
def change(line: bytes, context: FaultContext) -> bytes:
    return line.replace(b"\\n", b"\n")
