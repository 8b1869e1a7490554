"""What a client is asked to do in a scenario: told in its context, as steps that a scripted client can take.

The steps are described in `docs/clients.md`. A client of the official suite knows what to do from the name of
the scenario, and need not read them.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

Json = dict[str, Any]


class Brief(Struct, frozen=True):
    steps: tuple[Json, ...] = ()
    capabilities: tuple[str, ...] = ()
    """That the client should declare."""
    answers: Json = {}
    """How it should answer what it is asked."""
    oauth: Json = {}
    path: str = "/mcp"
    """Of the endpoint."""
    may_fail: bool = False
    """It is right that a client ends with an error here."""

    @property
    def context(self) -> Json:
        named = {
            "capabilities": list(self.capabilities),
            "answers": self.answers,
            "oauth": self.oauth,
        }
        return {"steps": list(self.steps)} | {key: value for key, value in named.items() if value}


def call(name: str, /, **arguments: Any) -> Json:
    return {"do": "call_tool", "name": name, "arguments": arguments}


def step(do: str, /, **more: Any) -> Json:
    return {"do": do, **more}


LIST_TOOLS: Json = {"do": "list_tools"}


def tried(step: Json) -> Json:
    """A step that may fail without ending the client."""
    return {**step, "may_fail": True}
