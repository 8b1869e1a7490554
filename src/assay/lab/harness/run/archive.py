"""Results on disk.

results/
  run-<time>/run.json                                   the stored run
  server-<scenario>-<time>/checks.json                  the checks of a scenario, one entry a cell
  server-<scenario>-<time>/trace-<transport>-<revision>.ndjson

Where clients are judged, the folder of a scenario is `<scenario>-<time>`, and what the client wrote is beside
the checks: `stdout.txt` and `stderr.txt`, the cells one after the other.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from assay.lab.harness.naming import dashed
from assay.lab.harness.scenario import Role
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.trace.protocol_log import log_entries
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import CheckResult, Finding

from .recording import now
from .run import CellResult, Place, Run, dump_run, parse_run

RUN_FILE = "run.json"

PREFIXES = {Role.SERVER: "server-", Role.CLIENT: ""}


class Output(Struct, frozen=True):
    """What a process wrote."""

    stdout: bytes
    stderr: bytes


class CannotKeep(Exception):
    """Results cannot be written; the text says where and why."""


class Archive:
    """Writes one run. Traces go to disk as they come; the rest when the run is over."""

    def __init__(self, directory: Path, role: Role = Role.SERVER) -> None:
        self._directory = directory
        self._prefix = PREFIXES[role]
        self._output: dict[str, list[tuple[CellResult, Output]]] = defaultdict(list)
        self._logs: dict[tuple[Place, int], list[dict[str, Any]]] = {}
        self._begun = now().replace(":", "-").replace(".", "-")

    @cached_property
    def _stamp(self) -> str:
        """What all folders of this run end in; claimed by making one, since two runs may begin at once."""
        for attempt in count(1):
            stamp = self._begun if attempt == 1 else f"{self._begun}-{attempt}"
            try:
                (self._directory / f"run-{stamp}").mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise CannotKeep(f"cannot keep results in {self._directory}: {error.strerror}") from error
            return stamp
        raise AssertionError("there is always a next number")

    def keep(self, result: CellResult, trace: Trace) -> CellResult:
        """
        Raises:
            CannotKeep: the disk is full, the directory is gone, or the like.
        """
        again = "" if result.attempt == 1 else f"-{result.attempt}"
        folder = self._folder(result.scenario)
        path = folder / f"trace-{result.transport}-{result.revision}{again}.ndjson"
        _write(path, dump_trace(trace))
        if trace.header.role == Role.CLIENT.value:
            self._logs[result.place, result.attempt] = list(log_entries(trace))
        return msgspec.structs.replace(result, trace=f"../{folder.name}/{path.name}")

    def keep_output(self, result: CellResult, output: Output) -> None:
        """What the subject's process wrote, for when the run is over."""
        self._output[result.scenario].append((result, output))

    def _folder(self, scenario: str) -> Path:
        return self._directory / f"{self._prefix}{dashed(scenario)}-{self._stamp}"

    def finish(self, run: Run) -> Path:
        """Write the stored run and every `checks.json`; returns where the run is.

        Raises:
            CannotKeep: as in `keep`.
        """
        by_scenario: dict[str, list[CellResult]] = defaultdict(list)
        for cell in run.cells:
            by_scenario[cell.scenario].append(cell)
        for scenario, cells in by_scenario.items():
            entries = [one for cell in cells for one in self._entries(cell)]
            body = msgspec.json.format(msgspec.json.encode(entries), indent=2)
            _write(self._folder(scenario) / "checks.json", body + b"\n")
        for scenario, written in self._output.items():
            for stream in Output.__struct_fields__:
                _write(self._folder(scenario) / f"{stream}.txt", _joined(written, stream))
        path = self._directory / f"run-{self._stamp}" / RUN_FILE
        _write(path, dump_run(run))
        return path

    def _entries(self, cell: CellResult) -> Iterator[dict[str, Any]]:
        yield from (entry(cell, check) for check in cell.checks)
        yield from self._logs.get((cell.place, cell.attempt), ())

    def discard(self) -> None:
        """Remove all that was kept of this run."""
        if "_stamp" in vars(self):  # else nothing was
            for folder in self._directory.glob(f"*-{self._stamp}"):
                shutil.rmtree(folder, ignore_errors=True)


def _joined(written: list[tuple[CellResult, Output]], stream: str) -> bytes:
    """One after the other, each below a line that says whose it is; a single one as it is."""
    if len(written) == 1:
        return bytes(getattr(written[0][1], stream))
    parts = (
        f"--- {cell.transport} {cell.revision}\n".encode() + getattr(output, stream)
        for cell, output in sorted(written, key=lambda one: one[0].place)
    )
    return b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts)


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise CannotKeep(f"cannot keep results in {path}: {error.strerror}") from error


def entry(cell: CellResult, check: CheckResult) -> dict[str, Any]:
    """One element of `checks.json`, with the keys that the official suite writes."""
    found = check.findings
    about: dict[str, Any] = {
        "id": check.id,
        "name": check.title,
        "description": found[0].statement if found else check.title,
        "status": str(check.verdict),
        "timestamp": cell.started,
        "specReferences": [{"id": row, "url": link} for row, link in check.requirements.items()],
        "details": {
            "revision": cell.revision,
            "transport": cell.transport,
            "observations": check.observations,
            "findings": [msgspec.to_builtins(finding) for finding in found],
        },
    }
    if found:
        about["errorMessage"] = told(found[0])
        about["logs"] = [line for finding in found for line in finding.excerpt]
    elif check.reason:
        about["errorMessage"] = check.reason
    return about


def told(finding: Finding) -> str:
    return (
        f"{finding.requirement} ({finding.level}): expected {finding.expected}; observed {finding.observed}"
    )


def located(run: Run, home: Path) -> Run:
    """The run with each trace as it is found from here; the file in `home` names them from there."""
    return msgspec.structs.replace(run, cells=[_located(cell, home) for cell in run.cells])


def _located(cell: CellResult, home: Path) -> CellResult:
    if not cell.trace:
        return cell
    return msgspec.structs.replace(cell, trace=os.path.relpath(home / cell.trace))


def read_run(path: Path) -> Run:
    """
    Raises:
        BadRun: it is no stored run.
        OSError: it cannot be read.
    """
    file = place_of(path)
    return parse_run(file.read_bytes(), str(file))


def place_of(path: Path) -> Path:
    """The file, given it or the directory that holds it."""
    return path / RUN_FILE if path.is_dir() else path
