"""Fixtures and extensions that official scenarios need; a server without one is not judged by them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.need import Need, declares
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.subject.facts import Facts
from assay.lab.suite.extension_method import SKILLS, TASKS
from assay.lab.suite.self_description import as_object


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


HAS_TASKS: Final[Need] = declares("extensions", TASKS)
HAS_SKILLS: Final[Need] = Need(
    lambda facts: SKILLS in as_object(facts.capabilities.get("extensions")),
    f"does not declare `extensions.{SKILLS}`",
)
"""With any value, since a check judges the value."""
A_LIST: Final[Need] = Need(
    lambda facts: any(facts.declares(capability) for capability, *_ in LISTS), "declares nothing to list"
)
UNDECLARED: Final[dict[str, Any]] = {CAPABILITIES_KEY: {}}
"""The `_meta` of a request whose client declares no extension."""


def declares_tasks(params: dict[str, Any]) -> bool:
    """Whether the client of a request declares the tasks extension."""
    capabilities = as_object(as_object(params.get("_meta")).get(CAPABILITIES_KEY))
    return TASKS in as_object(capabilities.get("extensions"))
