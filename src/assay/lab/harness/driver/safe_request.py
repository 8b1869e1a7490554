"""What can be asked of any server without harm: its own read-only tools, resources and prompts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts

from .argument import arguments_for
from .mirrored_header import param_headers
from .peer import Peer, Pending, Reply

TOOLS: Final = 5
OTHERS: Final = 2
"""Of each other kind: a server may have thousands, and each may take its time."""


class SafeRequest(Struct, frozen=True):
    method: str
    params: dict[str, Any]
    headers: dict[str, str] = {}
    """Those that repeat arguments, in the revisions that want them."""

    async def start(self, peer: Peer, meta: dict[str, Any] | None = None) -> Pending:
        """Ask, with this in `_meta` besides what the revision wants, and do not wait."""
        params = {**self.params, "_meta": meta} if meta else self.params
        headers = self.headers if peer.revision.http.mirrored else {}
        return await peer.start(self.method, params, headers=headers)

    async def ask(self, peer: Peer, meta: dict[str, Any] | None = None) -> Reply:
        return await peer.answer(await self.start(peer, meta))


def errands(facts: Facts) -> list[SafeRequest]:
    return [
        *islice(_tools(facts), TOOLS),
        *islice(_resources(facts), OTHERS),
        *islice(_prompts(facts), OTHERS),
    ]


def _tools(facts: Facts) -> Iterator[SafeRequest]:
    made = [
        (arguments_for(tool), tool) for tool in facts.read_only_tools if isinstance(tool.get("name"), str)
    ]
    # Arguments are guessed: tools that need fewest are the likeliest to get to work.
    for arguments, tool in sorted(made, key=lambda one: len(one[0])):
        params = {"name": tool["name"], "arguments": arguments}
        yield SafeRequest("tools/call", params, param_headers(tool, arguments))


def _resources(facts: Facts) -> Iterator[SafeRequest]:
    for resource in facts.resources:
        if isinstance(resource.get("uri"), str):
            yield SafeRequest("resources/read", {"uri": resource["uri"]})


def _prompts(facts: Facts) -> Iterator[SafeRequest]:
    for prompt in facts.prompts:
        # One that needs arguments could only be refused: what it takes is not said.
        if isinstance(prompt.get("name"), str) and not _required(prompt):
            yield SafeRequest("prompts/get", {"name": prompt["name"]})


def _required(prompt: dict[str, Any]) -> bool:
    arguments = prompt.get("arguments")
    listed = arguments if isinstance(arguments, list) else []
    return any(isinstance(one, dict) and one.get("required") is True for one in listed)


AN_ERRAND: Final = Need(
    lambda facts: bool(errands(facts)),
    "has neither a tool that only reads nor a resource nor a prompt to get",
)
