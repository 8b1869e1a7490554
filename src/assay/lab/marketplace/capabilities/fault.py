"""What faults of servers that claim the profile are made of: the places where they change something."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness import FaultContext, Json
from assay.lab.harness.subject.registry_entry import as_object

from .manifest import PLACES
from .meta import EFFECTS

WRITER: Final = "write_note"
"""The tool of the healthy server that writes a file."""
WRITING: Final = tuple(f"resources/{verb}" for verb in ("write", "update", "create", "delete"))
"""Methods that would change a resource: no revision has them."""


def contents(reply: Json, context: FaultContext) -> list[Json]:
    """What was read."""
    found: list[Json] = _result(reply, context, "resources/read").get("contents", [])
    return found


def listed(reply: Json, context: FaultContext, kind: str) -> list[Json]:
    """The tools, resources or prompts of a page."""
    found: list[Json] = _result(reply, context, f"{kind}/list").get(kind, [])
    return found


def summary(reply: Json, context: FaultContext) -> dict[str, Any] | None:
    """Of the effects of a call."""
    found: dict[str, Any] | None = as_object(_result(reply, context, "tools/call").get("_meta")).get(EFFECTS)
    return found


def _result(reply: Json, context: FaultContext, method: str) -> Json:
    return as_object(reply.get("result")) if context.method == method else {}


def call_reader(reply: Json, context: FaultContext, name: str) -> None:
    """List a tool as one that only reads."""
    for tool in listed(reply, context, "tools"):
        if tool["name"] == name:
            tool["annotations"] = {"readOnlyHint": True}


def is_manifest(context: FaultContext) -> bool:
    return context.call is not None and context.call.target in PLACES.values()


def is_writing(request: Json) -> bool:
    return request.get("method") in WRITING and "id" in request
