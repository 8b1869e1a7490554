"""What saboteurs of the official scenarios have in common: whose reply or request they spoil."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.saboteur import Json, Turn


def names(message: Json, name: str) -> bool:
    """Whether a request is for that tool or prompt."""
    params = message.get("params")
    return isinstance(params, dict) and params.get("name") == name


def result_for(reply: Json, turn: Turn, name: str) -> Json | None:
    """The result of a call of that tool or prompt, to be changed in place; none elsewhere."""
    result: Any = reply.get("result")
    return result if turn.params.get("name") == name and isinstance(result, dict) else None


def forget_answers(message: Json, name: str) -> Json:
    """The server never learns what the client answered."""
    if names(message, name):
        for key in ("inputResponses", "requestState"):
            message["params"].pop(key, None)
    return message
