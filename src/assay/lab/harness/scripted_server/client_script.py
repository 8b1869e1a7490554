"""What a client has to do in a scenario: the steps in its context.

`docs/judge-clients.md` describes the steps. A client written for the official suite knows what to do from
the name of the scenario and can ignore them.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

Json = dict[str, Any]


class ClientScript(Struct, frozen=True):
    steps: tuple[Json, ...] = ()
    capabilities: tuple[str, ...] = ()
    """The capabilities that the client should declare."""
    answers: Json = {}
    """The answers to requests of the server."""
    oauth: Json = {}
    path: str = "/mcp"
    """The path of the endpoint."""
    may_fail: bool = False
    """A non-zero exit status is not a failure in this scenario."""
    any_capabilities: bool = False
    """The scenario also proves something about a client that does not declare `capabilities`."""
    timeouts: bool = False
    """The server never answers a call, so that only the `timeout` of its step ends it."""
    pages: bool = False
    """The scenario is about lists of several pages."""

    @property
    def context(self) -> Json:
        optional = {
            "capabilities": list(self.capabilities),
            "answers": self.answers,
            "oauth": self.oauth,
        }
        return {"steps": list(self.steps)} | {key: value for key, value in optional.items() if value}


def call_tool(name: str, /, **arguments: Any) -> Json:
    return {"do": "call_tool", "name": name, "arguments": arguments}


def step(do: str, /, **arguments: Any) -> Json:
    return {"do": do, **arguments}


LIST_TOOLS: Json = {"do": "list_tools"}


def optional(step: Json) -> Json:
    """A step after which the client continues even if it fails."""
    return {**step, "may_fail": True}
