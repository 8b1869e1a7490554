"""The fixtures that official scenarios are played with: a server without one is not judged by it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts


def fixture_tool(name: str) -> Need:
    return Need(lambda facts: _has(facts.tools, "name", name), f"lists no tool `{name}`")


def fixture_prompt(name: str) -> Need:
    return Need(lambda facts: _has(facts.prompts, "name", name), f"lists no prompt `{name}`")


def fixture_resource(uri: str) -> Need:
    return Need(lambda facts: _has(facts.resources, "uri", uri), f"lists no resource `{uri}`")


def fixture_template(uri: str) -> Need:
    return Need(lambda facts: _has(facts.templates, "uriTemplate", uri), f"lists no template `{uri}`")


def tool_of(facts: Facts, name: str) -> dict[str, Any]:
    """The definition of a tool that the scenario needs."""
    return next(tool for tool in facts.tools if tool.get("name") == name)


def _has(items: Iterable[dict[str, Any]], key: str, value: str) -> bool:
    return any(item.get(key) == value for item in items)
