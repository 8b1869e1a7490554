"""Building blocks of client saboteurs: messages and HTTP requests with one part changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from assay.lab.harness import Json, Request
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient

Change = Callable[[Json], Json]


def within(message: Json, path: tuple[str, ...], change: Change) -> Json:
    """The message with the object at a path changed; the same message if there is no object."""
    if not path:
        return change(message)
    inner = message.get(path[0])
    return {**message, path[0]: within(inner, path[1:], change)} if isinstance(inner, dict) else message


def without(fields: Json, *names: str) -> Json:
    return {key: value for key, value in fields.items() if key not in names}


def with_params(message: Json, **fields: Any) -> Json:
    """The message with more or other parameters."""
    return within(message, ("params",), lambda params: {**params, **fields})


def within_request(message: Json, method: str, path: tuple[str, ...], change: Change) -> Json:
    """The message, with the object at a path changed if it has this method."""
    return within(message, path, change) if message.get("method") == method else message


def is_call(message: Json, *tools: str) -> bool:
    """Whether the message calls one of these tools."""
    return message.get("method") == "tools/call" and message["params"].get("name") in tools


def after_call(message: Json, *others: Json) -> Json | list[Json]:
    """The message; a tool call is followed by these messages."""
    return [message, *others] if message.get("method") == "tools/call" else message


def with_meta(message: Json, change: Change) -> Json:
    return within(message, ("params", "_meta"), change) if "id" in message else message


def progress(token: Any, done: float) -> Json:
    """A progress notification."""
    params = {"progressToken": token, "progress": done}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def changed_answer(message: Json, change: Change) -> Json:
    """The message with each answer to the server changed, in a response or in a retried request."""
    if "result" in message:
        return within(message, ("result",), change)
    return within(
        message,
        ("params", "inputResponses"),
        lambda answers: {key: change(answer) for key, answer in answers.items()},
    )


def with_form(message: Json, **fields: Any) -> Json:
    """The answer to a form with other values; `None` removes a field."""
    return within(
        message,
        ("result", "content"),
        lambda content: {key: value for key, value in {**content, **fields}.items() if value is not None},
    )


def with_schema(message: Json, change: Change) -> Json:
    """The tool call with its `schema` argument changed."""
    return within(message, ("params", "arguments", "schema"), change)


def without_header_marks(message: Json, tools: Iterable[str]) -> Json:
    """The list of tools without the `x-mcp-header` annotations of these tools."""
    names = frozenset(tools)

    def unmarked(result: Json) -> Json:
        tools = [_unmarked(tool) if tool["name"] in names else tool for tool in result["tools"]]
        return {**result, "tools": tools}

    return within(message, ("result",), lambda result: unmarked(result) if "tools" in result else result)


def _unmarked(tool: Json) -> Json:
    return within(
        tool,
        ("inputSchema", "properties"),
        lambda properties: {name: without(part, "x-mcp-header") for name, part in properties.items()},
    )


def alters_header(
    name: str, fault: str, breaks: str, header: str, change: Callable[[str], str | None], **options: Any
) -> ClientSaboteur:
    """A client that changes or removes a header of its HTTP requests."""

    def alter(request: Request, client: ScriptedClient) -> Request:
        if (value := request.header(header)) is not None:
            request.set(header, change(value))
        return request

    return on_request(fault, id=name, breaks=breaks, **options)(alter)
