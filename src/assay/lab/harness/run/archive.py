"""Results on disk.

results/
  run-<time>/run.json                                   the stored run
  server-<scenario>-<time>/checks.json                  the checks of a scenario, over all its cells
  server-<scenario>-<time>/trace-<transport>-<revision>.ndjson

For clients, the folder of a scenario is `<scenario>-<time>`, with the client's output in `stdout.txt` and
`stderr.txt`.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import count
from pathlib import Path, PurePath
from typing import Any

import msgspec
from msgspec import Struct

from assay.lab.harness.naming import dashed
from assay.lab.harness.requirement import Requirement
from assay.lab.harness.scenario import Role
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.trace.protocol_log import log_entries
from assay.lab.harness.trace.regular_file import UnfitFile, read_regular
from assay.lab.harness.trace.summary import summary
from assay.lab.harness.trace.trace import Trace

from .check_entry import entry
from .recording import now
from .run import LARGEST, BadRun, CellResult, Place, Run, dump_run, parse_run

RUN_FILE = "run.json"
TRACE = ".ndjson"

PREFIXES = {Role.SERVER: "server-", Role.CLIENT: ""}


class Output(Struct, frozen=True):
    """The output of a process."""

    stdout: bytes
    stderr: bytes


class StorageError(Exception):
    """Results cannot be written."""


class Archive:
    """Writes one run: traces as they come, the rest at the end."""

    def __init__(
        self,
        directory: Path,
        role: Role = Role.SERVER,
        requirements: Mapping[str, Requirement] | None = None,
    ) -> None:
        """`requirements` are those of the suite, which describe the checks."""
        self._directory = directory
        self._prefix = PREFIXES[role]
        self._requirements = requirements
        self._conversations: dict[tuple[Place, int], dict[str, Any]] = {}
        self._output: dict[str, list[tuple[CellResult, Output]]] = defaultdict(list)
        self._logs: dict[tuple[Place, int], list[dict[str, Any]]] = {}
        self._started = now().replace(":", "-").replace(".", "-")

    @cached_property
    def _stamp(self) -> str:
        """The suffix of all folders of this run, reserved by creating one: two runs may start at once."""
        for attempt in count(1):
            stamp = self._started if attempt == 1 else f"{self._started}-{attempt}"
            try:
                (self._directory / f"run-{stamp}").mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise StorageError(f"cannot store results in {self._directory}: {error.strerror}") from error
            return stamp
        raise AssertionError("count() is infinite")

    def store(self, result: CellResult, trace: Trace) -> CellResult:
        """Write a trace and return the result with its path.

        Raises:
            StorageError: the trace cannot be written.
        """
        attempt = "" if result.attempt == 1 else f"-{result.attempt}"
        folder = self._folder(result.scenario)
        path = folder / f"trace-{result.transport}-{result.revision}{attempt}.ndjson"
        _write(path, dump_trace(trace))
        of_client = trace.header.role == Role.CLIENT.value
        self._conversations[result.place, result.attempt] = summary(trace, of_client=of_client)
        if of_client:
            self._logs[result.place, result.attempt] = list(log_entries(trace))
        return msgspec.structs.replace(result, trace=f"../{folder.name}/{path.name}")

    def add_output(self, result: CellResult, output: Output) -> None:
        """Add the output of the subject's process, written at the end of the run."""
        self._output[result.scenario].append((result, output))

    def _folder(self, scenario: str) -> Path:
        return self._directory / f"{self._prefix}{dashed(scenario)}-{self._stamp}"

    def finish(self, run: Run) -> Path:
        """Write the run and all `checks.json`; returns the path of the run.

        Raises:
            StorageError: a file cannot be written.
        """
        by_scenario: dict[str, list[CellResult]] = defaultdict(list)
        for cell in run.cells:
            by_scenario[cell.scenario].append(cell)
        for scenario, cells in by_scenario.items():
            entries = [check_entry for cell in cells for check_entry in self._entries(cell)]
            body = msgspec.json.format(msgspec.json.encode(entries), indent=2)
            _write(self._folder(scenario) / "checks.json", body + b"\n")
        for scenario, outputs in self._output.items():
            for stream in Output.__struct_fields__:
                _write(self._folder(scenario) / f"{stream}.txt", _joined(outputs, stream))
        path = self._directory / f"run-{self._stamp}" / RUN_FILE
        _write(path, dump_run(run))
        return path

    def _entries(self, cell: CellResult) -> Iterator[dict[str, Any]]:
        place = cell.place, cell.attempt
        conversation = self._conversations.get(place)
        yield from (entry(cell, check, self._requirements, conversation) for check in cell.checks)
        yield from self._logs.get(place, ())

    def discard(self) -> None:
        """Remove all files of this run."""
        if "_stamp" in vars(self):  # else nothing was written
            for folder in self._directory.glob(f"*-{self._stamp}"):
                shutil.rmtree(folder, ignore_errors=True)


def _joined(outputs: list[tuple[CellResult, Output]], stream: str) -> bytes:
    """The outputs of several cells, each with a heading; a single output unchanged."""
    if len(outputs) == 1:
        return bytes(getattr(outputs[0][1], stream))
    parts = (
        f"--- {cell.transport} {cell.revision}\n".encode() + getattr(output, stream)
        for cell, output in sorted(outputs, key=lambda pair: pair[0].place)
    )
    return b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts)


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise StorageError(f"cannot store results in {path}: {error.strerror}") from error


def located(run: Run, home: Path) -> Run:
    """The run with trace paths relative to the working directory instead of `home`."""
    return msgspec.structs.replace(run, cells=[_located(cell, home) for cell in run.cells])


def _located(cell: CellResult, home: Path) -> CellResult:
    if not cell.trace:
        return cell
    return msgspec.structs.replace(cell, trace=os.path.relpath(home / cell.trace))


def read_run(path: Path) -> Run:
    """
    Raises:
        BadRun: not a stored run, or it names a trace elsewhere.
        OSError: the file cannot be read.
    """
    file = run_file(path)
    try:
        # A link to a run is the user's choice, but not one to a device or a pipe.
        data = read_regular(Path(os.path.realpath(file)), LARGEST)
    except UnfitFile as error:
        raise BadRun(f"{file}: {error}") from error
    run = parse_run(data, str(file))
    for cell in run.cells:
        if cell.trace and not is_beside(cell.trace, file.parent):
            problem = f"the trace {cell.trace!r} of {cell.scenario} is not in the directories of this run"
            raise BadRun(f"{file}: {problem}")
    return run


def is_beside(trace: str, home: Path) -> bool:
    """Whether a run in `home` may name this trace: in its own directory, or in one beside it, as they are
    stored. A run from a stranger could name any other file of the reader."""
    path = PurePath(trace)
    is_elsewhere = path.parts[:1] == ("..",)
    inside = path.parts[1:] if is_elsewhere else path.parts
    if path.is_absolute() or ".." in inside or path.suffix != TRACE or (is_elsewhere and len(inside) != 2):
        return False
    try:
        base = os.path.realpath(home / ".." if is_elsewhere else home)
        place = os.path.join(base, *inside)
        return os.path.realpath(place) == place  # no part of it is a link
    except ValueError:  # a null character
        return False


def run_file(path: Path) -> Path:
    """The stored run at a path: the file itself, or the one in a directory."""
    return path / RUN_FILE if path.is_dir() else path
