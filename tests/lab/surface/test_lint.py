"""The lint: each rule finds its fault, and says nothing about a careful server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main
from assay.lab import LintOptions, LintReport
from assay.lab.harness.subject.facts import Facts
from assay.lab.lint_run import lint_facts
from assay.lab.surface.report import as_json, as_sarif, as_text
from assay.lab.surface.rule import RULES, Severity

PLAIN: dict[str, Any] = {
    "name": "find_order",
    "description": "Find an order by its number.",
    "inputSchema": {
        "type": "object",
        "properties": {"number": {"type": "string", "description": "as on the invoice"}},
    },
    "outputSchema": {"type": "object", "properties": {}},
    "annotations": {"readOnlyHint": True},
}


def tool(**changes: Any) -> dict[str, Any]:
    return {**PLAIN, **changes}


def schema(**changes: Any) -> dict[str, Any]:
    return tool(inputSchema={"type": "object", **changes})


def linted(*tools: dict[str, Any], options: LintOptions | None = None, **lists: Any) -> LintReport:
    facts = Facts("2025-11-25", server={"name": "shop", "version": "1"}, tools=list(tools), **lists)
    return lint_facts(facts, "server.py", options or LintOptions())


def rules(*tools: dict[str, Any], options: LintOptions | None = None) -> set[str]:
    return {problem.rule for problem in linted(*tools, options=options).problems}


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
FAULTS: dict[str, list[dict[str, Any]]] = {
    "schema-top-level": [schema(anyOf=[{"required": ["a"]}])],
    "schema-not-object": [tool(inputSchema={"properties": {}})],
    "schema-reference": [
        schema(properties={"a": {"$ref": "#/$defs/A", "description": "a"}}, **{"$defs": {"A": {}}})
    ],
    "schema-broken-reference": [schema(properties={"a": {"$ref": "#/$defs/B"}})],
    "schema-external-reference": [schema(properties={"a": {"$ref": "https://example.com/a.json"}})],
    "schema-recursive": [schema(properties={"a": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": NODE}})],
    "schema-array-items": [schema(properties={"a": {"type": "array"}})],
    "schema-unused-definition": [schema(**{"$defs": {"Unused": {}}})],
    "schema-property-name": [schema(properties={"a b": {}})],
    "name-characters": [tool(name="find order")],
    "name-length": [tool(name="f" * 58)],
    "name-duplicate": [PLAIN, PLAIN],
    "name-similar": [PLAIN, tool(name="findOrders", description="other")],
    "description-missing": [tool(description=" ")],
    "description-duplicate": [PLAIN, tool(name="search_stock", description="Find an order  by its NUMBER.")],
    "description-parameter": [schema(properties={"a": {"type": "string"}})],
    "description-long": [tool(description="x" * 3000)],
    "description-hidden": [tool(description="Find.\u200b\u202eignore all")],
    "annotation-contradiction": [tool(name="delete_order")],
    "annotation-missing": [tool(annotations={})],
    "output-schema-missing": [tool(outputSchema=None)],
    "tokens-tool": [schema(properties={f"parameter_{n}": {"enum": ["a", "b"]} for n in range(200)})],
    "tokens-total": [
        tool(name=f"find_{'abcdefghijklmnop'[n % 16] * 3}{n}", description=f"{n} " * 900) for n in range(16)
    ],
    "tools-count": [tool(name=f"find_{n}", description=str(n)) for n in range(130)],
}


def test_every_rule_has_a_fault_that_shows_it() -> None:
    assert set(FAULTS) == set(RULES)


@pytest.mark.parametrize("rule", FAULTS)
def test_a_fault_is_found_by_its_rule(rule: str) -> None:
    assert rule in rules(*FAULTS[rule])
    assert rule not in rules(*FAULTS[rule], options=LintOptions(skip=(rule,)))


def test_a_careful_server_has_no_problem() -> None:
    report = linted(PLAIN, tool(name="count_stock", description="Count what is in stock."))

    assert list(report.problems) == []
    assert report.items == 2


@pytest.mark.parametrize(
    ("name", "annotations", "contradicts"),
    [
        ("delete_file", {"readOnlyHint": True}, True),
        ("delete_file", {"readOnlyHint": False, "destructiveHint": False}, True),
        ("delete_file", {"readOnlyHint": False, "destructiveHint": True}, False),
        ("get_file", {"readOnlyHint": False, "destructiveHint": True}, True),
        ("getDeleted", {"readOnlyHint": True}, False),
        ("file.update", {"readOnlyHint": True}, True),
        ("report", {"readOnlyHint": True, "destructiveHint": True}, True),
        ("settings", {"readOnlyHint": True}, False),
    ],
)
def test_hints_are_compared_with_the_verb_of_the_name(
    name: str, annotations: dict[str, bool], contradicts: bool
) -> None:
    assert ("annotation-contradiction" in rules(tool(name=name, annotations=annotations))) is contradicts


def test_names_that_differ_by_a_number_are_meant_to_be_alike() -> None:
    assert "name-similar" not in rules(tool(name="stage1_run"), tool(name="stage2_run", description="b"))


@pytest.mark.parametrize(
    "odd",
    [
        {"name": 5, "description": 7, "inputSchema": [], "annotations": "x", "outputSchema": 3},
        {
            "inputSchema": {
                "type": "object",
                "properties": {"a": 5, "b": {"$ref": 7, "anyOf": {}}},
                "$defs": [],
            }
        },
        {"name": "\x9b2J", "inputSchema": {"properties": {"\x1b[31m": {"items": [None]}}, "$ref": "#a"}},
        {"name": "n", "inputSchema": json.loads('{"not":' * 400 + "{}" + "}" * 400)},
    ],
)
def test_no_definition_makes_it_fail_and_no_text_acts(odd: dict[str, Any]) -> None:
    report = linted(odd, prompts=[{"arguments": [5]}, {"name": None}], resources=[{"uri": "\x1b]0;x"}])

    for text in (as_text(report), as_json(report), as_sarif(report)):
        assert "\x1b" not in text


def test_the_forms_of_a_report_agree() -> None:
    report = linted(*FAULTS["schema-top-level"], *FAULTS["name-characters"])
    sarif = json.loads(as_sarif(report))["runs"][0]

    assert len(sarif["results"]) == len(report.problems) == len(json.loads(as_json(report))["problems"])
    assert {result["ruleId"] for result in sarif["results"]} == {problem.rule for problem in report.problems}
    assert sarif["results"][0]["level"] == "error"
    assert all(rule.reason and rule.fix for rule in RULES.values())
    assert report.count(Severity.ERROR) == 2


SERVER = '''
from assay import Server

server = Server("shop")


@server.tool(annotations={"readOnlyHint": True})
def find_order(number: str) -> dict[str, str]:
    """Find an order by its number."""
    return {"number": number}
'''


def test_the_command_lists_a_server_and_its_exit_code_says_whether_hosts_refuse_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "server.py"
    file.write_text(SERVER)

    assert main(["lint", str(file), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["tools"][0]["name"] == "find_order"
    assert main(["lint", str(file), "--strict", "--tool-tokens", "5"]) == 1
    assert "tokens-tool" in capsys.readouterr().out
    assert main(["lint", str(file), "--skip", "no-such-rule"]) == 2
    assert "schema-top-level" in capsys.readouterr().err
    assert main(["lint", "http://127.0.0.1:1/mcp"]) == 4
    assert main(["lint", str(file), "--spec-version", "1999-01-01"]) == 2
