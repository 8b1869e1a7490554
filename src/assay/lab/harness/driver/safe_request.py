"""Requests that are safe with any server: its read-only tools, resources and prompts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts

from .argument import arguments_for, required_names
from .mirrored_header import param_headers
from .peer import Peer, Pending, Reply

TOOLS: Final = 5
OTHERS: Final = 2
"""Requests of each other kind: a server may have thousands, and each takes time."""


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
