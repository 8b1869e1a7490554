"""Collect the files that a run adds to a bundle: the stored run and every trace."""

from __future__ import annotations

import msgspec

from assay.lab.harness.naming import dashed
from assay.lab.harness.run.run import CellResult, Run, dump_run, redacted
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.harness.trace.trace import Trace

from . import layout


class RunCollector:
    """Stores traces as they arrive, and merges several runs, one per subject, into one."""

    def __init__(self) -> None:
        self._traces: dict[str, bytes] = {}
        self._runs: list[Run] = []

    def keep(self, result: CellResult, trace: Trace) -> CellResult:
        suffix = "" if result.attempt == 1 else f"-{result.attempt}"
        name = f"traces/{dashed(result.scenario)}-{result.transport}-{result.revision}{suffix}.ndjson"
        self._traces[f"{layout.RUN_FOLDER}{name}"] = dump_trace(trace)
        return msgspec.structs.replace(result, trace=name)

    def add(self, run: Run, redaction: Redaction) -> None:
        self._runs.append(redacted(run, redaction))

    @property
    def run(self) -> Run:
        first = self._runs[0]
        return msgspec.structs.replace(
            first,
            seconds=round(sum(run.seconds for run in self._runs), 3),
            subjects=[record for run in self._runs for record in run.subjects],
            cells=[cell for run in self._runs for cell in run.cells],
            interrupted=any(run.interrupted for run in self._runs),
            expired=any(run.expired for run in self._runs),
            problem="; ".join(run.problem for run in self._runs if run.problem),
        )

    @property
    def files(self) -> dict[str, bytes]:
        return {**self._traces, layout.RUN: dump_run(self.run)}
