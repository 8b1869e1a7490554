"""Golden runs on disk, fit for a repository: recording an unchanged subject again hardly changes a file.

golden/
  golden.json                                what was recorded: suite, format, normalisers
  golden.toml                                yours, if any: values of your subject that change by themselves
  <scenario>/verdicts.json                   outcome and checks of each cell, and the last link of its trace
  <scenario>/<transport>-<revision>.ndjson   the canonical trace
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness.naming import dashed
from assay.lab.harness.run.archive import CannotKeep
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.scenario import Role
from assay.lab.harness.trace.file import BadTrace, dump_trace, read_trace
from assay.lab.harness.trace.frame import encode_frame, encode_header, first_link
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import CheckResult

from .canonical import Canonical, canonical
from .normaliser import BUILT_IN, CLIENT_VALUES, LEFT_OUT, MADE_UP, VALUES
from .rules import BadGolden, Rules, read_rules

FORMAT: Final = 1
MANIFEST: Final = "golden.json"
RULES: Final = "golden.toml"
VERDICTS: Final = "verdicts.json"

Place = tuple[str, str, str]
"""Scenario, transport and revision."""


class Manifest(Struct, frozen=True):
    format: int
    assay: str
    suite: str
    normalisers: list[str]


class GoldenCell(Struct, frozen=True, omit_defaults=True):
    outcome: str
    checks: dict[str, list[str]] = {}
    """The ids of checks, by verdict."""
    broken: dict[str, list[str]] = {}
    """The requirements that a check found broken."""
    trace: str = ""
    seal: str = ""
    """The last link of the chain: without it, a trace could be cut short."""


class _Scenario(Struct, frozen=True):
    scenario: str
    cells: dict[str, GoldenCell]


class Golden(Struct, frozen=True):
    directory: Path
    suite: str
    cells: Mapping[Place, GoldenCell]
    rules: Rules

    def trace(self, place: Place) -> Canonical | None:
        """The canonical trace of a cell, as today's normalisers make it; none where nothing was played.

        Raises:
            BadGolden: it is not there, or was changed after it was recorded.
        """
        cell = self.cells[place]
        if not cell.trace:
            return None
        path = self.directory / dashed(place[0]) / cell.trace
        try:
            trace = read_trace(path)
        except BadTrace as error:
            raise BadGolden(str(error)) from error
        except OSError as error:
            raise BadGolden(f"{path}: {error.strerror}") from error
        if seal_of(trace) != cell.seal:
            raise BadGolden(f"{path}: not the trace that {VERDICTS} beside it was recorded with")
        return canonical(trace, self.rules.values)


def place_of(cell: CellResult) -> Place:
    return cell.scenario, cell.transport, cell.revision


def summary_of(cell: CellResult) -> GoldenCell:
    """What is compared of a verdict; reasons and observations may name what differs from run to run."""
    checks: dict[str, list[str]] = defaultdict(list)
    for check in sorted(cell.checks, key=lambda check: check.id):
        checks[str(check.verdict)].append(check.id)
    broken = {check.id: _rows(check) for check in cell.checks if check.findings}
    return GoldenCell(str(cell.outcome), dict(sorted(checks.items())), dict(sorted(broken.items())))


def _rows(check: CheckResult) -> list[str]:
    return sorted({finding.requirement for finding in check.findings})


def seal_of(trace: Trace) -> str:
    link = first_link(encode_header(trace.header))
    for frame in trace.frames:
        _, link = encode_frame(frame, link)
    return link


def record_golden(directory: Path, run: Run, home: Path, suite: str, rules: Rules) -> int:
    """Write a run, whose traces are named from `home`; the number of cells.

    Raises:
        BadGolden: the directory holds something else.
        CannotKeep: it cannot be written.
    """
    expect_room(directory)
    try:
        _clear(directory)
        for scenario, cells in _by_scenario(run).items():
            _write_scenario(directory / dashed(scenario), scenario, cells, home, rules)
        more = (*CLIENT_VALUES, *MADE_UP) if run.role == Role.CLIENT.value else ()
        names = [one.name for one in (*VALUES, *more, *LEFT_OUT, *BUILT_IN)]
        _write(directory / MANIFEST, Manifest(FORMAT, run.assay, suite, names))
    except OSError as error:
        raise CannotKeep(f"cannot keep the golden run in {directory}: {error.strerror}") from error
    return sum(cell.attempt == 1 for cell in run.cells)


def _by_scenario(run: Run) -> dict[str, list[CellResult]]:
    found: dict[str, list[CellResult]] = defaultdict(list)
    for cell in run.cells:
        if cell.attempt == 1:
            found[cell.scenario].append(cell)
    return found


def _write_scenario(folder: Path, scenario: str, cells: list[CellResult], home: Path, rules: Rules) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    kept: dict[str, GoldenCell] = {}
    for cell in cells:
        summary = summary_of(cell)
        if cell.trace:
            trace = canonical(read_trace(home / cell.trace), rules.values).trace
            name = f"{cell.transport}-{cell.revision}.ndjson"
            (folder / name).write_bytes(dump_trace(trace))
            summary = msgspec.structs.replace(summary, trace=name, seal=seal_of(trace))
        kept[f"{cell.transport} {cell.revision}"] = summary
    _write(folder / VERDICTS, _Scenario(scenario, dict(sorted(kept.items()))))


def _write(path: Path, value: Struct) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")


def expect_room(directory: Path) -> None:
    """
    Raises:
        BadGolden: something other than a golden run is there.
    """
    if directory.is_dir():
        others = [one.name for one in directory.iterdir() if one.name != RULES]
        if others and MANIFEST not in others:
            raise BadGolden(f"{directory} holds something else than a golden run: {sorted(others)[0]}")
    elif directory.exists():
        raise BadGolden(f"{directory} is no directory")


def _clear(directory: Path) -> None:
    """Take away what an earlier recording wrote, and nothing else."""
    for verdicts in directory.glob(f"*/{VERDICTS}"):
        for file in (*verdicts.parent.glob("*.ndjson"), verdicts):
            file.unlink()
        if not any(verdicts.parent.iterdir()):
            verdicts.parent.rmdir()


def read_golden(directory: Path) -> Golden:
    """
    Raises:
        BadGolden: there is none, or it cannot be read.
    """
    manifest = _read(directory / MANIFEST, Manifest)
    if manifest.format != FORMAT:
        raise BadGolden(f"{directory}: golden format {manifest.format}, this version reads {FORMAT}")
    cells = dict(_cells(directory))
    return Golden(directory, manifest.suite, cells, read_rules(directory / RULES))


def _cells(directory: Path) -> Iterator[tuple[Place, GoldenCell]]:
    for path in sorted(directory.glob(f"*/{VERDICTS}")):
        stored = _read(path, _Scenario)
        for key, cell in stored.cells.items():
            transport, _, revision = key.partition(" ")
            yield (stored.scenario, transport, revision), cell


def _read(path: Path, kind: Any) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise BadGolden(f"{path}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise BadGolden(f"{path}: not as it was recorded: {error}") from error
