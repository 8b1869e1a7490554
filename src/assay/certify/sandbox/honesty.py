"""Tools that declare that they only read, called in a sandbox: what do they change?

Inside, a server can write to its scratch directory only, so snapshots before and after a call show everything
that it has written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.error import CannotJudge
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.run.runner import Runner, RunSettings, SubjectDown
from assay.lab.harness.subject.disk import Directories
from assay.lab.harness.subject.out_of_band import OutOfBand
from assay.lab.harness.subject.subject import CommandSubject
from assay.lab.harness.trace.trace import Trace
from assay.lab.marketplace.capabilities.effect import observed_calls
from assay.lab.server_run import scenario_limit
from assay.lab.suites import suite_named
from assay.revisions.registry import BY_DATE

SCENARIO: Final = "cap.read-only-tools"
RECORDS: Final = ".local/state/"
"""Where programs keep logs and histories by convention, below their home, which the scratch directory is. The
ledger of a profile, which records every call, is there."""
MAX_PATHS: Final = 20
"""Paths of one tool that are reported."""


class ObservedTool(Struct, frozen=True):
    tool: str
    changed: tuple[str, ...] = ()
    """Files that were created, changed or removed during calls."""
    records: tuple[str, ...] = ()
    """The same among logs and histories: they are shown, and do not count."""


async def observe_tools(
    words: Sequence[str], scratch: Path, revision: str, patience: float
) -> tuple[ObservedTool, ...]:
    """Call the read-only tools of a server that runs in a sandbox with this scratch directory.

    Raises:
        CannotJudge: the calls broke off.
    """
    traces: list[Trace] = []

    def keep(result: CellResult, trace: Trace) -> CellResult:
        traces.append(trace)
        return result

    conditions = Conditions(
        patience=patience,
        limit=scenario_limit(patience),
        out_of_band=OutOfBand(Directories([scratch]), None, None),
    )
    selection = Selection(scenarios=(SCENARIO,), revisions=(BY_DATE[revision],))
    settings = RunSettings(suite_named("marketplace"), selection, conditions, shared=False)
    try:
        run = await Runner(settings, [CommandSubject(words)], lambda event: None, keep).run()
    except SubjectDown as down:
        raise CannotJudge(f"read-only tools were not observed: {down}") from down
    broken = next((cell for cell in run.cells if cell.broke_off), None)
    if broken is not None:
        raise CannotJudge(f"read-only tools were not observed: {broken.reason}")
    return observed_tools(traces, scratch)


def observed_tools(traces: Iterable[Trace], scratch: Path) -> tuple[ObservedTool, ...]:
    """Each read-only tool that was called, with what its calls have changed, relative to the directory."""
    changes: dict[str, dict[str, None]] = {}
    for trace in traces:
        for observation in observed_calls(trace):
            if observation.call.only_reads:
                paths = (os.path.relpath(path, scratch) for path in observation.paths)
                changes.setdefault(observation.call.name, {}).update(dict.fromkeys(paths))
    return tuple(observed_tool(name, paths) for name, paths in sorted(changes.items()))


def observed_tool(name: str, paths: Iterable[str]) -> ObservedTool:
    ordered = list(paths)
    records = [path for path in ordered if path.startswith(RECORDS)]
    changed = [path for path in ordered if path not in records]
    return ObservedTool(name, tuple(changed[:MAX_PATHS]), tuple(records[:MAX_PATHS]))


def encode(tools: Sequence[ObservedTool]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(tools), indent=2) + b"\n"


def figures_of(data: bytes) -> dict[str, float]:
    """
    Raises:
        ValueError: it is not a list of tools.
    """
    tools = msgspec.json.decode(data, type=tuple[ObservedTool, ...])
    return {"tools": len(tools), "dishonest": sum(bool(tool.changed) for tool in tools)}
