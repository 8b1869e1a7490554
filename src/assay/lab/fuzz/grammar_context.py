"""What the grammar needs to know about a target: transport, revision, and the facts of the subject."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from assay.lab.harness.driver.argument import prompt_arguments
from assay.lab.harness.driver.message_meta import CLIENT, declared
from assay.lab.harness.subject.facts import Facts, Permission
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .case import UNKNOWN

SOME_URI: Final = "assay://no-such-thing"


class GrammarContext:
    def __init__(
        self,
        transport: Transport,
        revision: Revision,
        facts: Facts,
        *,
        permission: Permission = Permission.READ_ONLY,
    ) -> None:
        self.transport = transport
        self.revision = revision
        self.facts = facts
        self.facts.permission = permission

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """The tools that may be called."""
        return [tool for tool in self.facts.tools if tool in self.facts.permitted_tools]

    @cached_property
    def left_alone(self) -> frozenset[str]:
        """The case-folded names of the other tools: a server may ignore case and surrounding spaces."""
        allowed = {tool["name"] for tool in self.tools}
        names = {str(tool.get("name")) for tool in self.facts.tools}
        return frozenset(name.strip().casefold() for name in names - allowed)

    def is_safe(self, name: Any) -> bool:
        """Whether a call with that name cannot reach a tool that may have effects."""
        return not isinstance(name, str) or name.strip().casefold() not in self.left_alone

    @cached_property
    def methods(self) -> list[str]:
        return sorted(self.revision.requests, key=lambda method: (method != self.plain, method))

    @cached_property
    def notices(self) -> list[str]:
        return sorted(self.revision.notifications)

    @property
    def plain(self) -> str:
        """The method of a request that every server answers."""
        return "ping" if "ping" in self.revision.requests else "server/discover"

    def declared(self, params: Any) -> Any:
        return declared(self.revision, params, {})

    @cached_property
    def usual(self) -> dict[str, dict[str, Any]]:
        """Valid parameters of each method that has any."""
        uris = [resource.get("uri") for resource in self.facts.resources]
        uri = next((uri for uri in uris if isinstance(uri, str)), SOME_URI)
        named = (prompt for prompt in self.facts.prompts if isinstance(prompt.get("name"), str))
        prompt = next(named, {"name": UNKNOWN})
        return {
            "initialize": {"protocolVersion": self.revision.date, "capabilities": {}, "clientInfo": CLIENT},
            "tools/call": {"name": UNKNOWN, "arguments": {}},
            "resources/read": {"uri": uri},
            "resources/subscribe": {"uri": uri},
            "resources/unsubscribe": {"uri": uri},
            "prompts/get": {"name": prompt["name"], "arguments": prompt_arguments(prompt)},
            "completion/complete": {
                "ref": {"type": "ref/prompt", "name": prompt["name"]},
                "argument": {"name": "a", "value": "a"},
            },
            "logging/setLevel": {"level": "error"},
            "subscriptions/listen": {"notifications": {"toolsListChanged": True}},
            "notifications/cancelled": {"requestId": UNKNOWN},
            "notifications/progress": {"progressToken": UNKNOWN, "progress": 1},
        }
