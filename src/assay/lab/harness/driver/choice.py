"""What a scenario uses of a subject: tools and resources by their description, and safe requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts, Permission, permission_for

from .argument import required_names
from .message_meta import param_headers
from .peer import Peer, Pending, Reply
from .plausible import seems_to_change

MOST_TOOLS: Final = 12
MOST_RESOURCES: Final = 20
NOWHERE: Final = "assay-lab://nowhere/no-such-resource"
"""A URI that no server has: the scheme is the lab's."""
ASKING: Final = re.compile(r"\b(asks?|elicit\w*|sampl\w*|roots?|confirm\w*)\b", re.IGNORECASE)
CHANGING: Final = re.compile(r"\b(add|change|edit|load|trigger|unload|update)s?\b", re.IGNORECASE)
UNSTEADY: Final = re.compile(
    r"\b(add|change|create|delete|disable|edit|enable|install|load|register|remove|set|switch|toggle|trigger|"
    r"uninstall|unload|unregister|update)s?\b",
    re.IGNORECASE,
)
LOGGING: Final = re.compile(r"\blog(s|ging|ged)?\b", re.IGNORECASE)
_BETWEEN_WORDS: Final = re.compile(r"[_\-./]|(?<=[a-z])(?=[A-Z])")
TOOLS: Final = 5
OTHERS: Final = 2
"""Requests of each other kind: a server may have thousands, and each takes time."""


def matching_tools(speak_of: re.Pattern[str], facts: Facts) -> list[dict[str, Any]]:
    """Tools whose name or description matches, without slow ones and those that may not be called."""
    tools = [
        tool
        for tool in facts.tools
        if isinstance(tool.get("name"), str)
        and speak_of.search(_description(tool))
        and (permission_for(tool) is not Permission.DESTRUCTIVE or facts.permits(tool))
        and not facts.is_slow(tool)
    ]
    return tools[:MOST_TOOLS]


def _description(tool: dict[str, Any]) -> str:
    return f"{_BETWEEN_WORDS.sub(' ', tool['name'])} {tool.get('description', '')}"


def uris_of(facts: Facts) -> list[str]:
    """The URIs of listed resources, as many as a scenario reads."""
    uris = [resource["uri"] for resource in facts.resources if isinstance(resource.get("uri"), str)]
    return uris[:MOST_RESOURCES]


def argument_sets(tool: dict[str, Any], facts: Facts, other: str = "once more") -> list[dict[str, Any]]:
    """Arguments for a tool, and a second set with other texts for its unconstrained strings."""
    first = facts.arguments_for(tool)
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
    calls = [(facts.arguments_for(tool), tool) for tool in facts.quick_tools]
    # Arguments are guessed: tools that have worked, and those with the fewest, are most likely to succeed.
    calls.sort(key=lambda call: (_promise(call[1], facts), len(call[0])))
    # One that fails is among them: failures have rules of their own.
    working = [call for call in calls if facts.calls_of(call[1]).works]
    failing = [call for call in calls if call not in working]
    for arguments, tool in (*working[: TOOLS - 1], *failing[:1], *working[TOOLS - 1 :], *failing[1:]):
        yield _call(tool, arguments)


def _promise(tool: dict[str, Any], facts: Facts) -> tuple[bool, ...]:
    """A key that sorts tools that have worked first, then those that reported progress, then those that
    change nothing, by their hints or at least by their names."""
    calls = facts.calls_of(tool)
    effects = permission_for(tool) is not Permission.READ_ONLY
    return not calls.works, not calls.progress, effects, seems_to_change(tool)


def _call(tool: dict[str, Any], arguments: dict[str, Any]) -> SafeRequest:
    params = {"name": tool["name"], "arguments": arguments}
    return SafeRequest("tools/call", params, param_headers(tool, arguments))


def slowest_calls(facts: Facts) -> list[SafeRequest]:
    """The call that took longest, and one that was given up: what a cancellation can reach in time."""
    timed = [tool for tool in facts.permitted_tools if tool["name"] in facts.calls]
    seconds = {tool["name"]: facts.calls[tool["name"]].seconds for tool in timed}
    answered = [tool for tool in timed if not facts.is_slow(tool) and facts.calls[tool["name"]].works]
    given_up = [tool for tool in timed if facts.is_slow(tool) and seconds[tool["name"]]]
    slowest = sorted(answered, key=lambda tool: -seconds[tool["name"]])[:1]
    return [_call(tool, facts.arguments_for(tool)) for tool in (*slowest, *given_up[:1])]


def calls_with_progress(facts: Facts) -> list[SafeRequest]:
    """The quickest call that reported progress."""
    tools = [tool for tool in facts.callable_tools if facts.calls_of(tool).progress]
    tools.sort(key=lambda tool: facts.calls_of(tool).seconds)
    return [_call(tool, facts.arguments_for(tool)) for tool in tools[:1]]


def calls_that_log(facts: Facts) -> list[SafeRequest]:
    """The quickest calls that sent log messages; before any call, those of tools that speak of them."""
    tools = [tool for tool in facts.callable_tools if _logs(tool, facts)]
    tools.sort(key=lambda tool: (facts.calls_of(tool).seconds, len(facts.arguments_for(tool))))
    return [_call(tool, facts.arguments_for(tool)) for tool in tools[:OTHERS]]


def _logs(tool: dict[str, Any], facts: Facts) -> bool:
    calls = facts.calls_of(tool)
    return calls.logs if calls.works else bool(LOGGING.search(_description(tool)))


def steady_tools(facts: Facts) -> list[dict[str, Any]]:
    """Callable tools that do not seem to change what the server offers."""
    return [tool for tool in facts.quick_tools if not UNSTEADY.search(_description(tool))]


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
    "has no tool that may be called, no resource and no prompt without required arguments; "
    "--allow-effects calls tools without `readOnlyHint`",
)
