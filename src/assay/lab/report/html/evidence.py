"""The frames behind the verdicts, up to the size that a page can carry, those of findings first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.run.run import CellResult, Run, verdicts
from assay.lab.harness.trace.file import BadTrace, read_trace
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Outcome, Verdict

from .block import block
from .caption import Caption, captions

BUDGET: Final = 12 * 1024 * 1024
"""Characters of frames in one page: browsers open it at once, and mail and CI systems accept it."""
TOO_LARGE: Final = "left out to keep this page small"
LONGEST: Final = 64 * 1024
"""Characters of one frame."""


class Evidence(Struct, frozen=True):
    """One trace in the page: a block of JSON, or the reason why it is missing."""

    block: str = ""
    missing: str = ""


def evidence(run: Run, budget: int = BUDGET) -> dict[int, Evidence]:
    """Evidence by the number of the cell, within the budget."""
    by_cell: dict[int, Evidence] = {}
    for number in sorted(range(len(run.cells)), key=lambda number: _rank(run.cells[number])):
        if run.cells[number].trace:
            by_cell[number] = _evidence(Path(run.cells[number].trace), budget)
            budget -= len(by_cell[number].block)
    return by_cell


def _rank(cell: CellResult) -> int:
    """Readers open findings first."""
    if Verdict.FAILURE in verdicts(cell):
        return 0
    if Verdict.WARNING in verdicts(cell):
        return 1
    return 2 if cell.outcome is Outcome.INCOMPLETE else 3


def _evidence(path: Path, budget: int) -> Evidence:
    try:
        if path.stat().st_size > budget:
            return Evidence(missing=TOO_LARGE)
        data = block(list(_frames(read_trace(path))))
    except BadTrace as error:
        return Evidence(missing=f"not shown: {error.problem}")
    except OSError as error:
        return Evidence(missing=f"not shown: {error.strerror}")
    except ValueError as error:  # a null character
        return Evidence(missing=f"not shown: {error}")
    return Evidence(data) if len(data) <= budget else Evidence(missing=TOO_LARGE)


def _frames(trace: Trace) -> Iterator[dict[str, Any]]:
    for frame, caption in zip(trace.frames, captions(trace), strict=True):
        yield _entry(frame, caption)


def _entry(frame: Frame, caption: Caption) -> dict[str, Any]:
    text = frame.raw.decode("utf-8", "backslashreplace")
    fields: dict[str, Any] = {
        "n": frame.n,
        "t": round(frame.t, 4),
        "from": frame.sender,
        "channel": frame.channel,
        "kind": frame.kind,
        "text": caption.text,
        "note": caption.note,
        "bad": caption.bad,
        "raw": text[:LONGEST],
        "cut": max(0, len(text) - LONGEST),
        "info": frame.info,
    }
    return {key: value for key, value in fields.items() if value or key in ("n", "t")}
