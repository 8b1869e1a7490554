"""Earlier runs of the same subjects, for the trend that reports show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from assay.lab.harness.requirement import Level
from assay.lab.harness.trace.regular_file import UnfitFile, read_regular

from .conclusion import outcomes
from .defect import defects
from .run import BadRun, EarlierRun, Run, parse_run

MOST: Final = 12
"""Earlier runs that a report shows."""
READ: Final = 40
"""Stored runs that are read to find them."""
LARGEST: Final = 32 * 1024 * 1024
"""Bytes of one stored run; larger ones are left out."""
_PORT: Final = re.compile(r"(?<=[\w\]]):\d+(?=/|$)")


def with_history(run: Run, home: Path) -> Run:
    """The run with the runs before it that are stored beside `home`, its own directory."""
    earlier: list[EarlierRun] = []
    if not home.name.startswith("run-"):
        return run
    folders = sorted(
        (folder for folder in home.parent.glob("run-*") if folder.name < home.name), reverse=True
    )
    for folder in folders[:READ]:
        other = _stored(folder / "run.json")
        if other is not None and _subjects(other) == _subjects(run) and not other.interrupted:
            earlier.append(summary(other))
        if len(earlier) == MOST:
            break
    return replace(run, earlier=earlier[::-1])


def _stored(file: Path) -> Run | None:
    """A stored run; None if it cannot be read, which must not keep a newer one from being shown."""
    try:
        return parse_run(read_regular(file, LARGEST), str(file))
    except (OSError, UnfitFile, BadRun):
        return None


def _subjects(run: Run) -> tuple[str, str, frozenset[tuple[str, str]]]:
    """What must be equal. The lab serves Python servers on any free port."""
    names = frozenset((subject.transport, _PORT.sub("", subject.name)) for subject in run.subjects)
    return run.suite, run.role, names


def summary(run: Run) -> EarlierRun:
    faults = [Level(defect.finding.level).binding for defect in defects(run)]
    return EarlierRun(
        started=run.started,
        seconds=run.seconds,
        assay=run.assay,
        failures=sum(faults),
        warnings=len(faults) - sum(faults),
        outcomes={str(outcome): count for outcome, count in outcomes(run).items()},
    )


def trend(run: Run) -> Iterator[str]:
    """One line: how many rules were broken in the last runs, and now."""
    if not run.earlier:
        return
    every = [*run.earlier, summary(run)]
    failures = " → ".join(str(each.failures) for each in every)
    warnings = " → ".join(str(each.warnings) for each in every)
    yield f"trend over {len(every)} runs: failures {failures}; warnings {warnings}"
