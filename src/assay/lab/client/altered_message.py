"""What faults of clients are made of: messages with one thing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from assay.lab.harness import Json

Change = Callable[[Json], Json]


def within(message: Json, path: tuple[str, ...], change: Change) -> Json:
    """The message with the object at a path changed; as it is where there is no object."""
    if not path:
        return change(message)
    inner = message.get(path[0])
    return {**message, path[0]: within(inner, path[1:], change)} if isinstance(inner, dict) else message


def without(fields: Json, *names: str) -> Json:
    return {key: value for key, value in fields.items() if key not in names}


def is_call(message: Json, *tools: str) -> bool:
    """Whether it calls one of these tools."""
    return message.get("method") == "tools/call" and message["params"].get("name") in tools


def with_meta(message: Json, change: Change) -> Json:
    return within(message, ("params", "_meta"), change) if "id" in message else message


def progress(token: Any, done: float) -> Json:
    """A notification of progress."""
    about = {"progressToken": token, "progress": done}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": about}


def changed_answer(message: Json, change: Change) -> Json:
    """The message with each answer to a question changed, whichever way the revision has."""
    if "result" in message:
        return within(message, ("result",), change)

    def all_of(given: Json) -> Json:
        return {key: change(answer) for key, answer in given.items()}

    return within(message, ("params", "inputResponses"), all_of)


def with_form(message: Json, **fields: Any) -> Json:
    """The answer to a form with other values; none takes a field out."""
    return within(
        message,
        ("result", "content"),
        lambda content: {key: value for key, value in {**content, **fields}.items() if value is not None},
    )


def with_schema(message: Json, change: Change) -> Json:
    """The call that gives a schema back, with another."""
    return within(message, ("params", "arguments", "schema"), change)


def overlooking(message: Json, names: Iterable[str]) -> Json:
    """A list of tools as heard by one who does not see the marks of these."""
    return within(message, ("result",), lambda result: _unmarked(result, frozenset(names)))


def _unmarked(result: Json, names: frozenset[str]) -> Json:
    if "tools" not in result:
        return result
    tools = [_plain(tool) if tool["name"] in names else tool for tool in result["tools"]]
    return {**result, "tools": tools}


def _plain(tool: Json) -> Json:
    def plain(properties: Json) -> Json:
        return {name: without(part, "x-mcp-header") for name, part in properties.items()}

    return within(tool, ("inputSchema", "properties"), plain)
