"""What a scenario uses of a subject: tools and resources by their description, and safe requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts, hints

from .argument import arguments_for, required_names
from .message_meta import param_headers
from .peer import Peer, Pending, Reply

MOST_TOOLS: Final = 12
MOST_RESOURCES: Final = 20
NOWHERE: Final = "assay-lab://nowhere/no-such-resource"
"""A URI that no server has: the scheme is the lab's."""
ASKING: Final = re.compile(r"\b(asks?|elicit\w*|sampl\w*|roots?|confirm\w*)\b", re.IGNORECASE)
CHANGING: Final = re.compile(r"\b(add|change|edit|load|trigger|unload|update)s?\b", re.IGNORECASE)
_BETWEEN_WORDS: Final = re.compile(r"[_\-./]|(?<=[a-z])(?=[A-Z])")
TOOLS: Final = 5
OTHERS: Final = 2
"""Requests of each other kind: a server may have thousands, and each takes time."""


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


class SafeRequest(Struct, frozen=True):
    method: str
    params: dict[str, Any]
    headers: dict[str, str] = {}
    """Headers that mirror arguments, in the revisions that require them."""

    async def start(self, peer: Peer, meta: dict[str, Any] | None = None) -> Pending:
        """Send the request with extra `_meta`, without waiting for the answer."""
        params = {**self.params, "_meta": meta} if meta else self.params
        headers = self.headers if peer.revision.http.mirrored else {}
        return await peer.start(self.method, params, headers=headers)

    async def ask(self, peer: Peer, meta: dict[str, Any] | None = None) -> Reply:
        return await peer.answer(await self.start(peer, meta))


def safe_requests_for(facts: Facts) -> list[SafeRequest]:
    return [
        *islice(_tools(facts), TOOLS),
        *islice(_resources(facts), OTHERS),
        *islice(_prompts(facts), OTHERS),
    ]


def _tools(facts: Facts) -> Iterator[SafeRequest]:
    calls = [
        (arguments_for(tool), tool) for tool in facts.read_only_tools if isinstance(tool.get("name"), str)
    ]
    # Arguments are guessed: tools with the fewest are most likely to succeed.
    for arguments, tool in sorted(calls, key=lambda call: len(call[0])):
        params = {"name": tool["name"], "arguments": arguments}
        yield SafeRequest("tools/call", params, param_headers(tool, arguments))


def _resources(facts: Facts) -> Iterator[SafeRequest]:
    for resource in facts.resources:
        if isinstance(resource.get("uri"), str):
            yield SafeRequest("resources/read", {"uri": resource["uri"]})


def _prompts(facts: Facts) -> Iterator[SafeRequest]:
    for prompt in facts.prompts:
        # Valid arguments cannot be guessed: prompts do not publish a schema.
        if isinstance(prompt.get("name"), str) and not required_names(prompt):
            yield SafeRequest("prompts/get", {"name": prompt["name"]})


A_SAFE_REQUEST: Final = Need(
    lambda facts: bool(safe_requests_for(facts)),
    "has no tool with `readOnlyHint`, no resource and no prompt without required arguments",
)
