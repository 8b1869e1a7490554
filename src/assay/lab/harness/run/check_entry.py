"""The elements of `checks.json`, with the keys of the official suite."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from assay.lab.harness.requirement import Requirement
from assay.lab.harness.verdict import CheckResult, Finding

from .run import CellResult


def entry(
    cell: CellResult,
    check: CheckResult,
    requirements: Mapping[str, Requirement] | None = None,
    conversation: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """`requirements` are those of the suite; `conversation` is the summary of the trace."""
    findings = check.findings
    fields: dict[str, Any] = {
        "id": check.id,
        "name": check.title,
        "description": _description(cell, check, requirements or {}),
        "status": str(check.verdict),
        "timestamp": moment(cell.started, check.at),
        "specReferences": [{"id": row, "url": link} for row, link in check.requirements.items()],
        "details": {
            "revision": cell.revision,
            "transport": cell.transport,
            "observations": check.observations,
            "findings": [msgspec.to_builtins(finding) for finding in findings],
            **_observed(check),
            **({"conversation": dict(conversation)} if conversation else {}),
        },
    }
    if findings:
        fields["errorMessage"] = error_message(findings[0])
        fields["logs"] = [line for finding in findings for line in finding.excerpt]
    elif check.reason:
        fields["errorMessage"] = check.reason
    return fields


def _observed(check: CheckResult) -> dict[str, Any]:
    held = {"held": check.held} if check.held else {}
    return {**held, "observed": check.expected} if check.expected else held


def _description(cell: CellResult, check: CheckResult, requirements: Mapping[str, Requirement]) -> str:
    """The requirements in words, with their levels at the revision, and where they were judged."""
    rules = [requirements[name] for name in check.requirements if name in requirements]
    texts = [f"{rule.id} ({rule.levels[cell.revision].value}): {rule.statement}" for rule in rules]
    if not texts:
        texts = [finding.statement for finding in check.findings[:1]] or [check.title]
    return f"{'; '.join(texts)}. Judged in the scenario {cell.scenario}: {cell.title}"


def moment(started: str, seconds: float) -> str:
    try:
        time = datetime.fromisoformat(started) + timedelta(seconds=seconds)
    except (ValueError, OverflowError):  # runs of other tools may lack the time
        return started
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def error_message(finding: Finding) -> str:
    title = f"{finding.title}: " if finding.title else ""
    rule = f"{finding.requirement} ({finding.level})"
    return f"{title}{rule}: expected {finding.expected}; observed {finding.observed}"
