"""Selects tools and resources of a subject for a scenario, by their descriptions."""

from __future__ import annotations

import re
from typing import Any, Final

from assay.lab.harness.subject.facts import Facts, hints

from .argument import arguments_for

MOST_TOOLS: Final = 12
MOST_RESOURCES: Final = 20
NOWHERE: Final = "assay-lab://nowhere/no-such-resource"
"""A URI that no server has: the scheme is the lab's."""
ASKING: Final = re.compile(r"\b(asks?|elicit\w*|sampl\w*|roots?|confirm\w*)\b", re.IGNORECASE)
CHANGING: Final = re.compile(r"\b(add|change|edit|load|trigger|unload|update)s?\b", re.IGNORECASE)
_BETWEEN_WORDS: Final = re.compile(r"[_\-./]|(?<=[a-z])(?=[A-Z])")


def matching_tools(speak_of: re.Pattern[str], facts: Facts) -> list[dict[str, Any]]:
    """Tools whose name or description matches, without those with `destructiveHint`."""
    tools = [
        tool
        for tool in facts.tools
        if isinstance(tool.get("name"), str)
        and speak_of.search(_description(tool))
        and hints(tool).get("destructiveHint") is not True
    ]
    return tools[:MOST_TOOLS]


def _description(tool: dict[str, Any]) -> str:
    return f"{_BETWEEN_WORDS.sub(' ', tool['name'])} {tool.get('description', '')}"


def uris_of(facts: Facts) -> list[str]:
    """The URIs of listed resources, as many as a scenario reads."""
    uris = [resource["uri"] for resource in facts.resources if isinstance(resource.get("uri"), str)]
    return uris[:MOST_RESOURCES]


def argument_sets(tool: dict[str, Any], other: str = "once more") -> list[dict[str, Any]]:
    """Arguments for a tool, and a second set with other texts for its unconstrained strings."""
    first = arguments_for(tool)
    properties = _object(_object(tool.get("inputSchema")).get("properties"))
    changed = {
        name: f"{value}, {other}"
        for name, value in first.items()
        if isinstance(value, str) and _object(properties.get(name)).keys() <= {"type", "title", "description"}
    }
    return [first, {**first, **changed}] if changed else [first]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
