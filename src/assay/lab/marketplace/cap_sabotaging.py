"""What faults of servers that claim the profile are made of: the places where they change something."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.sabotage.saboteur import Json, Turn
from assay.lab.harness.subject.registry_entry import as_object
from assay.lab.marketplace.checks.cap.unwritable import WRITING

from .cap_manifest import PLACES
from .cap_meta import EFFECTS

WRITER: Final = "write_note"
"""The tool of the healthy server that writes a file."""


def contents(reply: Json, turn: Turn) -> list[Json]:
    """What was read."""
    found: list[Json] = _result(reply, turn, "resources/read").get("contents", [])
    return found


def listed(reply: Json, turn: Turn, kind: str) -> list[Json]:
    """The tools, resources or prompts of a page."""
    found: list[Json] = _result(reply, turn, f"{kind}/list").get(kind, [])
    return found


def summary(reply: Json, turn: Turn) -> dict[str, Any] | None:
    """Of the effects of a call."""
    found: dict[str, Any] | None = as_object(_result(reply, turn, "tools/call").get("_meta")).get(EFFECTS)
    return found


def _result(reply: Json, turn: Turn, method: str) -> Json:
    return as_object(reply.get("result")) if turn.method == method else {}


def call_reader(reply: Json, turn: Turn, name: str) -> None:
    """List a tool as one that only reads."""
    for tool in listed(reply, turn, "tools"):
        if tool["name"] == name:
            tool["annotations"] = {"readOnlyHint": True}


def is_manifest(turn: Turn) -> bool:
    return turn.call is not None and turn.call.target in PLACES.values()


def is_writing(request: Json) -> bool:
    return request.get("method") in WRITING and "id" in request
