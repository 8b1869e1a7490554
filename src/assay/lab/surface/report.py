"""The result of a lint, and its forms: text, JSON and SARIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.report.sarif import SCHEMA
from assay.model.version import VERSION
from assay.model.visible import visible, visible_lines

from .rule import RULES, Problem, Severity

FORMAT: Final = 1
LONGEST: Final = 1000
MOST_LISTED: Final = 10
"""Tools in the table of costs; JSON has all."""
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_WORDS: Final = {Severity.ERROR: "FAILURE", Severity.WARNING: "WARNING", Severity.NOTE: "note"}


class ToolCost(Struct, frozen=True):
    name: str
    tokens: int
    output_tokens: int = 0
    """Of the output schema, which few hosts send to a model."""


class LintReport(Struct, frozen=True):
    format: int
    assay: str
    server: str
    """Name and version, as the server says."""
    target: str
    revision: str
    tokenizer: str
    is_exact: bool
    """Whether tokens were counted and not estimated."""
    tokens: int
    """Of all tools, as hosts send them to a model."""
    tools: Sequence[ToolCost]
    problems: Sequence[Problem]
    items: int
    """Tools, prompts, resources and templates."""

    @property
    def errors(self) -> int:
        return self.count(Severity.ERROR)

    @property
    def warnings(self) -> int:
        return self.count(Severity.WARNING)

    def count(self, severity: Severity) -> int:
        return sum(each.severity is severity for each in self.problems)


def as_json(report: LintReport) -> str:
    return visible_lines(msgspec.json.format(msgspec.json.encode(report), indent=1).decode()) + "\n"


def as_text(report: LintReport) -> str:
    about = "" if report.is_exact else "about "
    lines = [
        f"{visible(report.server or report.target)} at {report.revision}: {report.items} items",
        f"{about}{report.tokens} tokens for {len(report.tools)} tools ({report.tokenizer})",
    ]
    dear = sorted(report.tools, key=lambda tool: -tool.tokens)[:MOST_LISTED]
    lines += [f"  {tool.tokens:>7}  {visible(tool.name)[:100]}" for tool in dear]
    lines += ["  …"] if len(report.tools) > len(dear) else []
    for rule, group in _by_rule(report.problems).items():
        known = RULES[rule]
        lines += ["", f"{_WORDS[known.severity]} {known.title} ({rule})"]
        lines += [f"  {visible(each.item)[:200]}: {visible(each.message)[:LONGEST]}" for each in group]
        lines += [f"  why  {known.reason}", f"  fix  {known.fix}"]
    counted = Counter(each.severity for each in report.problems)
    lines += ["", ", ".join(f"{counted[severity]} {severity}s" for severity in Severity)]
    return "\n".join(lines) + "\n"


def _by_rule(problems: Sequence[Problem]) -> dict[str, list[Problem]]:
    """Errors first, in the order of the rules."""
    groups: dict[str, list[Problem]] = {}
    for severity in Severity:
        for rule in RULES.values():
            group = [each for each in problems if each.rule == rule.id]
            if group and rule.severity is severity:
                groups[rule.id] = group
    return groups


def as_sarif(report: LintReport) -> str:
    groups = _by_rule(report.problems)
    names = list(groups)
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Assay lint",
                        "version": VERSION,
                        "rules": [_rule(name) for name in names],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(report, each, index) for index, name in enumerate(names) for each in groups[name]
                ],
            }
        ],
    }
    return visible_lines(msgspec.json.format(msgspec.json.encode(log), indent=2).decode()) + "\n"


def _rule(name: str) -> dict[str, Any]:
    rule = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.reason},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(report: LintReport, each: Problem, index: int) -> dict[str, Any]:
    text = f"{each.item}: {each.message}"[:LONGEST].replace("](", "] (")
    digest = sha256(f"{each.rule}\n{each.item}\n{each.place}".encode("utf-8", "replace")).hexdigest()
    is_file = report.target.partition(":")[0].endswith(".py")
    place: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": f"{each.item}{each.place}"[:LONGEST], "kind": "object"}]
    }
    if is_file:
        file = report.target.partition(":")[0]
        region = {"startLine": 1}
        place["physicalLocation"] = {"artifactLocation": {"uri": file}, "region": region}
    return {
        "ruleId": each.rule,
        "ruleIndex": index,
        "level": _LEVELS[each.severity],
        "message": {"text": f"{text}. {each.fix}"},
        "locations": [place],
        "partialFingerprints": {"assay/v1": digest},
    }


FORMATS: Final[Mapping[str, Callable[[LintReport], str]]] = MappingProxyType(
    {"text": as_text, "json": as_json, "sarif": as_sarif}
)
