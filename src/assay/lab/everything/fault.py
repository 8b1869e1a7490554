"""What saboteurs of the official scenarios have in common: whose reply or request they spoil."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness import FaultContext, Json

SCHEMA_TOOL: Final = "json_schema_2020_12_tool"


def names(message: Json, name: str) -> bool:
    """Whether a request is for that tool or prompt."""
    params = message.get("params")
    return isinstance(params, dict) and params.get("name") == name


def result_for(reply: Json, context: FaultContext, name: str) -> Json | None:
    """The result of a call of that tool or prompt, to be changed in place; none elsewhere."""
    result: Any = reply.get("result")
    return result if context.params.get("name") == name and isinstance(result, dict) else None


def listed_schema(reply: Json, context: FaultContext) -> Json:
    """The schema with all keywords where tools are listed, to be changed in place; an empty one elsewhere."""
    listed = reply.get("result", {}).get("tools", ()) if context.method == "tools/list" else ()
    found: Json = next((tool["inputSchema"] for tool in listed if tool["name"] == SCHEMA_TOOL), {})
    return found


def forget_answers(message: Json, name: str) -> Json:
    """The server never learns what the client answered."""
    if names(message, name):
        for key in ("inputResponses", "requestState"):
            message["params"].pop(key, None)
    return message
