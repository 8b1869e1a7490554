"""Which of a subject's own things a scenario tries, told by what they say of themselves."""

from __future__ import annotations

import re
from typing import Any, Final

from assay.lab.harness.subject.facts import Facts, hints

from .argument import arguments_for

MOST_TOOLS: Final = 12
MOST_RESOURCES: Final = 20
NOWHERE: Final = "assay-lab://nowhere/no-such-resource"
"""A URI that no server has anything at: the scheme is the lab's own."""
ASKING: Final = re.compile(r"\b(asks?|elicit\w*|sampl\w*|roots?|confirm\w*)\b", re.IGNORECASE)
CHANGING: Final = re.compile(r"\b(add|change|edit|load|trigger|unload|update)s?\b", re.IGNORECASE)
_BETWEEN_WORDS: Final = re.compile(r"[_\-./]|(?<=[a-z])(?=[A-Z])")


def tools_that(speak_of: re.Pattern[str], facts: Facts) -> list[dict[str, Any]]:
    """Tools whose name or description speaks of it; those that say they destroy something are left alone."""
    found = [
        tool
        for tool in facts.tools
        if isinstance(tool.get("name"), str)
        and speak_of.search(_told(tool))
        and hints(tool).get("destructiveHint") is not True
    ]
    return found[:MOST_TOOLS]


def _told(tool: dict[str, Any]) -> str:
    return f"{_BETWEEN_WORDS.sub(' ', tool['name'])} {tool.get('description', '')}"


def uris_of(facts: Facts) -> list[str]:
    """The resources that it lists, as many as a scenario reads."""
    found = [one["uri"] for one in facts.resources if isinstance(one.get("uri"), str)]
    return found[:MOST_RESOURCES]


def argument_sets(tool: dict[str, Any], other: str = "once more") -> list[dict[str, Any]]:
    """Arguments for a tool, and others with another text where its schema leaves one open."""
    first = arguments_for(tool)
    known = _object(_object(tool.get("inputSchema")).get("properties"))
    open_texts = {
        name: f"{value}, {other}"
        for name, value in first.items()
        if isinstance(value, str) and _object(known.get(name)).keys() <= {"type", "title", "description"}
    }
    return [first, {**first, **open_texts}] if open_texts else [first]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
