"""Prompts by what they say with a placeholder for each argument: that is what their digest is over."""

from __future__ import annotations

import re
from typing import Any, Final

from assay.lab.harness import Trace
from assay.lab.harness.trace.digest import digest_of_json
from assay.lab.harness.trace.trace import Exchange
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

SEMVER: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)
OVER_MESSAGES: Final = "messages"
OVER_DEFINITION: Final = "definition"
ALL_CONTENT: Final = frozenset().union(*(revision.content for revision in REVISIONS))


def knows_all_content(revision: Revision) -> bool:
    """Whether nothing in a prompt has to be said otherwise there; elsewhere its digest may be another."""
    return revision.content == ALL_CONTENT


def is_version(value: Any) -> bool:
    return isinstance(value, str) and SEMVER.fullmatch(value) is not None


def placeholders(prompt: dict[str, Any]) -> dict[str, str]:
    """Each argument by its name in braces."""
    listed = prompt.get("arguments")
    named = [one.get("name") for one in (listed if isinstance(listed, list) else []) if isinstance(one, dict)]
    return {name: f"{{{name}}}" for name in named if isinstance(name, str)}


def rendered(trace: Trace, prompt: dict[str, Any]) -> Exchange | None:
    """The answered request for a prompt with placeholders; none where nobody asked."""
    wanted = placeholders(prompt)
    return next((one for one in gets(trace, prompt) if one.params.get("arguments") == wanted), None)


def gets(trace: Trace, prompt: dict[str, Any]) -> list[Exchange]:
    """The answered requests for a prompt."""
    asked = trace.exchanges("prompts/get")
    return [one for one in asked if one.params.get("name") == prompt.get("name") and one.answer is not None]


def expected_digests(prompt: dict[str, Any], got: Exchange) -> tuple[str, list[str]]:
    """What the digest is over, and what it is then."""
    messages = (got.result or {}).get("messages")
    if isinstance(messages, list):
        return OVER_MESSAGES, _known(messages)
    name = {"name": prompt.get("name")}
    without = [] if "arguments" in prompt else [name]
    return OVER_DEFINITION, _known({**name, "arguments": prompt.get("arguments", [])}, *without)


def _known(*values: Any) -> list[str]:
    return [made for value in values if (made := digest_of_json(value)) is not None]
