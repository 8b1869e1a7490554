"""When a frame was recorded, and on which frames a finding is."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from pathlib import PurePath

from assay.lab.harness.run.run import Run
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Trace


def seconds_of(trace: Trace, frame: Frame) -> float:
    """Seconds since 1970; traces of other tools may lack the time, and then begin there."""
    try:
        return datetime.fromisoformat(trace.header.started).timestamp() + frame.t
    except ValueError:
        return frame.t


def text_of(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def notes(run: Run, path: str) -> dict[int, list[str]]:
    """The findings on the frames of a trace, each at its first frame."""
    texts: dict[int, list[str]] = defaultdict(list)
    name = PurePath(path).name
    for cell in run.cells:
        if PurePath(cell.trace).name != name:
            continue
        for check in cell.checks:
            for finding in check.findings:
                if finding.frames and not finding.follows_from:
                    rule = f"{finding.requirement} ({finding.level})"
                    texts[finding.frames[0]].append(f"{rule}: {finding.title}; observed {finding.observed}")
    return texts
