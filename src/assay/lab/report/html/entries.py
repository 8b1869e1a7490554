"""The scenario runs and their checks, as the page's script reads them."""

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
    """What links call each cell; attempts, and the same scenario on another subject, get a number."""
    seen: Counter[str] = Counter()
    found = []
    for cell in run.cells:
        key = f"{cell.scenario}/{cell.transport}/{cell.revision}"
        seen[key] += 1
        found.append(key if seen[key] == 1 else f"{key}/{seen[key]}")
    return found


def entries(run: Run, shown: Mapping[int, Evidence]) -> dict[str, Any]:
    """Titles and links of checks are the same in hundreds of cells: they are written once."""
    citations: dict[str, int] = {}
    titles: dict[str, str] = {}
    cells = []
    for number, (cell, key) in enumerate(zip(run.cells, keys(run), strict=True)):
        checks = []
        for check in cell.checks:
            titles.setdefault(check.id, check.title)
            cited = citations.setdefault(msgspec.json.encode(check.requirements).decode(), len(citations))
            checks.append(_check(run, cell, check, cited, has_frames=bool(_of(shown, number).block)))
        cells.append(_cell(cell, key, _of(shown, number)) | {"checks": checks})
    cited_rows = [msgspec.json.decode(text) for text in citations]
    return {"role": run.role, "cells": cells, "titles": titles, "citations": cited_rows}


def _of(shown: Mapping[int, Evidence], number: int) -> Evidence:
    return shown.get(number, Evidence())


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
    made: dict[str, Any] = {"id": check.id, "verdict": check.verdict, "seen": check.observations}
    if check.requirements:
        made["cited"] = cited
    if check.reason:
        made["reason"] = check.reason
    if check.findings:
        made["findings"] = [_finding(found, has_frames=has_frames) for found in check.findings]
        if is_expected(run, cell, check):
            made["expected"] = True
    return made


def _finding(finding: Finding, *, has_frames: bool) -> dict[str, Any]:
    """The excerpt is for where the frames themselves are not there."""
    made: dict[str, Any] = msgspec.to_builtins(finding)
    if has_frames:
        del made["excerpt"]
    return made
