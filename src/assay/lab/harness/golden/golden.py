"""Golden runs on disk, suited for version control: recording an unchanged subject again changes no file.

golden/
  golden.json                                suite, format and normalisers
  golden.toml                                optional, written by the user: volatile values of the subject
  <scenario>/verdicts.json                   outcome and checks of each cell, and the last hash of its trace
  <scenario>/<transport>-<revision>.ndjson   the canonical trace
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness.naming import dashed
from assay.lab.harness.run.archive import StorageError
from assay.lab.harness.run.run import LARGEST, CellResult, Run
from assay.lab.harness.scenario import Role
from assay.lab.harness.trace.file import BadTrace, dump_trace, read_trace
from assay.lab.harness.trace.frame import encode_frame, encode_header, first_link
from assay.lab.harness.trace.regular_file import UnfitFile, read_regular
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import CheckResult

from .canonical import Canonical, canonical
from .normaliser import BUILT_IN, CLIENT_VALUES, GENERATED, OMITTED, VALUES
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
    """The requirements that each check reports as broken."""
    trace: str = ""
    seal: str = ""
    """The last link of the hash chain: without it, truncation of the trace would go unnoticed."""


class _Scenario(Struct, frozen=True):
    scenario: str
    cells: dict[str, GoldenCell]


class Golden(Struct, frozen=True):
    directory: Path
    suite: str
    cells: Mapping[Place, GoldenCell]
    rules: Rules

    def trace(self, place: Place) -> Canonical | None:
        """The stored trace of a cell after the current normalisers; None if the cell has none.

        Raises:
            BadGolden: the trace is missing, or was changed after it was recorded.
        """
        cell = self.cells[place]
        if not cell.trace:
            return None
        path = self.directory / dashed(place[0]) / cell.trace
        if PurePath(cell.trace).name != cell.trace:
            raise BadGolden(f"{path}: {VERDICTS} names a trace in another directory")
        try:
            trace = read_trace(path)
        except BadTrace as error:
            raise BadGolden(str(error)) from error
        except OSError as error:
            raise BadGolden(f"{path}: {error.strerror}") from error
        if seal_of(trace) != cell.seal:
            raise BadGolden(f"{path}: not the trace that was recorded with {VERDICTS}")
        return canonical(trace, self.rules.values)


def place_of(cell: CellResult) -> Place:
    return cell.scenario, cell.transport, cell.revision


def summary_of(cell: CellResult) -> GoldenCell:
    """The comparable part of a result: reasons and observations may contain values that always change."""
    checks: dict[str, list[str]] = defaultdict(list)
    for check in sorted(cell.checks, key=lambda check: check.id):
        checks[str(check.verdict)].append(check.id)
    broken = {check.id: _requirements(check) for check in cell.checks if check.findings}
    return GoldenCell(str(cell.outcome), dict(sorted(checks.items())), dict(sorted(broken.items())))


def _requirements(check: CheckResult) -> list[str]:
    return sorted({finding.requirement for finding in check.findings})


def seal_of(trace: Trace) -> str:
    link = first_link(encode_header(trace.header))
    for frame in trace.frames:
        _, link = encode_frame(frame, link)
    return link


def record_golden(directory: Path, run: Run, home: Path, suite: str, rules: Rules) -> int:
    """Write a run and return the number of cells. The paths of its traces are relative to `home`.

    Raises:
        BadGolden: the directory contains something else.
        CannotKeep: the directory cannot be written.
    """
    expect_room(directory)
    try:
        _clear(directory)
        for scenario, cells in _by_scenario(run).items():
            _write_scenario(directory / dashed(scenario), scenario, cells, home, rules)
        for_clients = (*CLIENT_VALUES, *GENERATED) if run.role == Role.CLIENT.value else ()
        names = [rule.name for rule in (*VALUES, *for_clients, *OMITTED, *BUILT_IN)]
        _write(directory / MANIFEST, Manifest(FORMAT, run.assay, suite, names))
    except OSError as error:
        raise StorageError(f"cannot write the golden run to {directory}: {error.strerror}") from error
    return sum(cell.attempt == 1 for cell in run.cells)


def _by_scenario(run: Run) -> dict[str, list[CellResult]]:
    groups: dict[str, list[CellResult]] = defaultdict(list)
    for cell in run.cells:
        if cell.attempt == 1:
            groups[cell.scenario].append(cell)
    return groups


def _write_scenario(folder: Path, scenario: str, cells: list[CellResult], home: Path, rules: Rules) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    summaries: dict[str, GoldenCell] = {}
    for cell in cells:
        summary = summary_of(cell)
        if cell.trace:
            trace = canonical(read_trace(home / cell.trace), rules.values).trace
            name = f"{cell.transport}-{cell.revision}.ndjson"
            (folder / name).write_bytes(dump_trace(trace))
            summary = msgspec.structs.replace(summary, trace=name, seal=seal_of(trace))
        summaries[f"{cell.transport} {cell.revision}"] = summary
    _write(folder / VERDICTS, _Scenario(scenario, dict(sorted(summaries.items()))))


def _write(path: Path, value: Struct) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")


def expect_room(directory: Path) -> None:
    """
    Raises:
        BadGolden: the path exists and is not a golden run.
    """
    if directory.is_dir():
        others = [path.name for path in directory.iterdir() if path.name != RULES]
        if others and MANIFEST not in others:
            raise BadGolden(f"{directory} is not a golden run: it contains {sorted(others)[0]}")
    elif directory.exists():
        raise BadGolden(f"{directory} is not a directory")


def _clear(directory: Path) -> None:
    """Remove the files of an earlier recording, and nothing else."""
    for verdicts in directory.glob(f"*/{VERDICTS}"):
        for file in (*verdicts.parent.glob("*.ndjson"), verdicts):
            file.unlink()
        if not any(verdicts.parent.iterdir()):
            verdicts.parent.rmdir()


def read_golden(directory: Path) -> Golden:
    """
    Raises:
        BadGolden: there is none, or it is invalid.
    """
    manifest = _read(directory / MANIFEST, Manifest)
    if manifest.format != FORMAT:
        raise BadGolden(f"{directory}: golden format {manifest.format}; this version reads {FORMAT}")
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
        return msgspec.json.decode(read_regular(path, LARGEST), type=kind)
    except UnfitFile as error:
        raise BadGolden(f"{path}: {error}") from error
    except OSError as error:
        raise BadGolden(f"{path}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise BadGolden(f"{path}: not a valid golden file: {error}") from error
