"""A byte order mark, as some runtimes write when they are told to write UTF-8."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, newest_of_each_kind, on_line


@on_line(
    "the output begins with a byte order mark",
    breaks="STD-02",
    scenario="framing.lines",
    window=newest_of_each_kind,
    silent=True,
)
def change(line: bytes, context: FaultContext) -> bytes:
    first = not context.memory
    context.memory["begun"] = True
    return b"\xef\xbb\xbf" + line if first else line
