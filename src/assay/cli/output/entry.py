"""Entries of a registry, what is wrong with them, and how two differ."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.certify.registry.diff import Difference
    from assay.certify.registry.form import ValidationReport


def report_lines(report: ValidationReport, name: str) -> list[str]:
    return [*map(str, report.issues), f"{name} is {'' if report.valid else 'not '}valid"]


def difference_lines(changes: Difference) -> list[str]:
    lines = [str(change) for change in changes.changes] or ["nothing changed"]
    verdict = "may follow the old entry" if changes.acceptable else "may not follow the old entry"
    return [*lines, f"the new entry {verdict}"]


def as_json(value: Any) -> str:
    import msgspec

    return json.dumps(msgspec.to_builtins(value), indent=2, ensure_ascii=False) + "\n"
