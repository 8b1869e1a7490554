"""Stored runs: find the newest, read one, judge its traces again, compare two."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from assay.lab.harness.golden.canonical import canonical
from assay.lab.harness.golden.frame_difference import FrameDifference, frame_differences
from assay.lab.harness.run import rejudge as harness
from assay.lab.harness.run.archive import RUN_FILE, TRACE, read_run, run_file
from assay.lab.harness.run.difference import Difference, difference
from assay.lab.harness.run.run import BadRun, CellResult, Run
from assay.lab.harness.trace.file import BadTrace, read_trace
from assay.lab.harness.trace.trace import Trace
from assay.lab.tap.capture import FILE as TAP_FILE
from assay.lab.tap.judgement import judged_run
from assay.lab.tap.view import is_tapped, settled

from .error import InvalidOptions
from .selection import all_suites

RESULTS: Final = Path("results")
_HINT: Final = "give a directory results/run-… of `assay check`"


def newest_run(directory: Path = RESULTS, *, before: int = 0) -> Path:
    """The newest stored run in a directory, or one of those `before` it.

    Raises:
        InvalidOptions: there are not as many.
    """
    runs = sorted(directory.glob(f"run-*/{RUN_FILE}"))  # the names are times
    if len(runs) <= before:
        stored = "only one stored run" if runs else "no stored run"
        raise InvalidOptions(f"{stored} in {directory}", f"run `assay check` first, or {_HINT}")
    return runs[-1 - before].parent


def find_run(path: Path | None, *, before: int = 0) -> Path:
    """The run at a path, or the newest in a directory of results; without a path, in `results/`.

    Raises:
        InvalidOptions: there is none.
    """
    if path is None:
        return newest_run(before=before)
    is_results = path.is_dir() and not (path / RUN_FILE).exists() and any(path.glob(f"run-*/{RUN_FILE}"))
    return newest_run(path, before=before) if is_results else path


def stored_run(path: Path) -> Run:
    """The run at a path; that of a tap which did not judge is made now.

    Raises:
        InvalidOptions: there is none, or it cannot be read.
    """
    try:
        if path.is_dir() and (path / TAP_FILE).exists() and not (path / RUN_FILE).exists():
            return judged_run([(Path(place).name, trace) for place, trace in _traces([path])])
        return read_run(path)
    except BadRun as error:
        raise InvalidOptions(str(error), _HINT) from error
    except OSError as error:
        raise InvalidOptions(f"{error.filename}: {error.strerror}", _HINT) from error


def rejudge(paths: Sequence[Path], *, strict: bool = False) -> Run:
    """Judge stored traces again. A path is a trace, a stored run, or a directory with traces. Those of a tap
    are judged from both sides.

    Raises:
        InvalidOptions: no trace is found, one was changed after it was recorded, or a suite cannot be loaded.
    """
    traces = _traces(paths)
    tapped = [(place, trace) for place, trace in traces if is_tapped(trace)]
    others = [(place, trace) for place, trace in traces if not is_tapped(trace)]
    if not tapped:
        return harness.rejudged(all_suites(), others, strict=strict)
    live = judged_run(tapped, strict=strict)
    if not others:
        return live
    run = harness.rejudged(all_suites(), others, strict=strict)
    return replace(run, subjects=[*run.subjects, *live.subjects], cells=[*run.cells, *live.cells])


def stored_traces(path: Path) -> list[tuple[str, Trace]]:
    """The traces of a stored run, once each, by their path.

    Raises:
        InvalidOptions: no trace is found, or one was changed after it was recorded.
    """
    return [(place, settled(trace) if is_tapped(trace) else trace) for place, trace in _traces([path])]


def _traces(paths: Sequence[Path]) -> list[tuple[str, Trace]]:
    try:
        files = [file for path in paths for file in _files_at(path)]
        if not files:
            raise InvalidOptions("no trace found", "traces end in .ndjson")
        return [(str(file), read_trace(file)) for file in files]
    except BadTrace as error:
        raise InvalidOptions(str(error), "judge a trace as it was recorded, or record it again") from error
    except BadRun as error:
        raise InvalidOptions(str(error), _HINT) from error
    except OSError as error:
        raise InvalidOptions(f"{error.filename}: {error.strerror}", f"give traces, or {_HINT}") from error


def _files_at(path: Path) -> list[Path]:
    """The file itself, the traces of a stored run, or all that are below a directory."""
    if path.is_dir() and (path / TAP_FILE).exists():
        return sorted(path.glob(f"*{TRACE}"))  # the judgement of a tap may be behind its recording
    stored = path / RUN_FILE if path.is_dir() else path
    if stored.name == RUN_FILE and stored.exists():
        run = read_run(stored)
        home = stored.parent.resolve()
        return list(
            dict.fromkeys(Path(os.path.normpath(home / cell.trace)) for cell in run.cells if cell.trace)
        )
    if path.is_dir():
        return sorted(path.rglob(f"*{TRACE}"))
    return [path.resolve() if path.is_symlink() else path]  # a link that the user names is meant


def compare(before: Path, after: Path) -> Difference:
    """Compare two stored runs. Where both have their traces, the first frame that differs is shown.

    Raises:
        InvalidOptions: a run or a trace cannot be read.
    """
    homes = run_file(before).parent, run_file(after).parent

    def explain(old: CellResult, new: CellResult) -> FrameDifference | None:
        files = homes[0] / old.trace, homes[1] / new.trace
        if not all(file.is_file() for file in files):
            return None
        try:
            first, second = (canonical(read_trace(file)) for file in files)
        except BadTrace as error:
            fix = "compare runs whose traces are as they were recorded"
            raise InvalidOptions(str(error), fix) from error
        return next(iter(frame_differences(first, second)), None)

    return difference(stored_run(before), stored_run(after), explain)
