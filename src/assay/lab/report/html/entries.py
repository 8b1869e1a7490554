"""Scenario runs and checks as data for the page's script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from assay.lab.harness.run.baseline import is_expected
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import CheckResult, Finding

from .evidence import Evidence


def area(cell: CellResult) -> str:
    return cell.area or cell.scenario.partition(".")[0]


def keys(run: Run) -> list[str]:
    """The keys of cells in links; repeated keys (attempts, several subjects) get a number."""
    uses: Counter[str] = Counter()
    numbered = []
    for cell in run.cells:
        key = f"{cell.scenario}/{cell.transport}/{cell.revision}"
        uses[key] += 1
        numbered.append(key if uses[key] == 1 else f"{key}/{uses[key]}")
    return numbered


def entries(run: Run, evidence: Mapping[int, Evidence]) -> dict[str, Any]:
    """Titles and links of checks repeat in hundreds of cells, so they are written once."""
    citations: dict[str, int] = {}
    titles: dict[str, str] = {}
    cells = []
    for number, (cell, key) in enumerate(zip(run.cells, keys(run), strict=True)):
        frames = evidence.get(number, Evidence())
        checks = []
        for check in cell.checks:
            titles.setdefault(check.id, check.title)
            cited = citations.setdefault(msgspec.json.encode(check.requirements).decode(), len(citations))
            checks.append(_check(run, cell, check, cited, has_frames=bool(frames.block)))
        cells.append(_cell(cell, key, frames) | {"checks": checks})
    cited_rows = [msgspec.json.decode(text) for text in citations]
    return {"role": run.role, "cells": cells, "titles": titles, "citations": cited_rows}


def _cell(cell: CellResult, key: str, evidence: Evidence) -> dict[str, Any]:
    return {
        "key": key,
        "scenario": cell.scenario,
        "title": cell.title,
        "area": area(cell),
        "transport": cell.transport,
        "revision": cell.revision,
        "outcome": cell.outcome,
        "seconds": round(cell.seconds, 3),
        "reason": cell.reason,
        "official": cell.official,
        "attempt": cell.attempt,
        "trace": cell.trace,
        "missing": evidence.missing,
    }


def _check(run: Run, cell: CellResult, check: CheckResult, cited: int, *, has_frames: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": check.id, "verdict": check.verdict, "seen": check.observations}
    if check.requirements:
        entry["cited"] = cited
    if check.reason:
        entry["reason"] = check.reason
    if check.findings:
        entry["findings"] = [_finding(finding, has_frames=has_frames) for finding in check.findings]
        if is_expected(run, cell, check):
            entry["expected"] = True
    return entry


def _finding(finding: Finding, *, has_frames: bool) -> dict[str, Any]:
    """The excerpt is only needed if the page lacks the frames."""
    entry: dict[str, Any] = msgspec.to_builtins(finding)
    if has_frames:
        del entry["excerpt"]
    return entry
