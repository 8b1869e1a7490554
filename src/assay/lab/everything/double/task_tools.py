"""The tools that official scenarios of tasks are played with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.sabotage.saboteur import Json

from .job import WORKING, Stage

Made = Json | list[Stage]
"""A result at once, or the stages of a task."""


class Tool(Struct, frozen=True):
    name: str
    properties: dict[str, str]
    run: Callable[[Json], Made]
    """From the parameters of the call."""
    waits: bool = True
    """Whether a client that knows no tasks is sent away; otherwise it gets the end of the work at once."""

    @property
    def definition(self) -> Json:
        properties = {name: {"type": kind} for name, kind in self.properties.items()}
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return {"name": self.name, "description": f"Fixture {self.name}", "inputSchema": schema}


def said(text: str, **more: Any) -> Json:
    """The result of a tool that says this."""
    return {"resultType": "complete", "content": [{"type": "text", "text": text}], **more}


def completed(text: str, **more: Any) -> Stage:
    return {"status": "completed", "result": said(text, **more)}


def asking(**questions: str) -> Stage:
    """Waiting for one string or boolean each."""
    wanted = {key: _question(key, kind) for key, kind in questions.items()}
    return {"status": "input_required", "inputRequests": wanted}


def _question(key: str, kind: str) -> Json:
    schema = {"type": "object", "properties": {key: {"type": kind}}, "required": [key]}
    params = {"mode": "form", "message": f"Give the {key}", "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def _arguments(params: Json) -> Json:
    return params.get("arguments") or {}


def _greet(params: Json) -> Made:
    return said(f"Hello, {_arguments(params).get('name')}!")


def _slow_compute(params: Json) -> Made:
    seconds, label = _arguments(params).get("seconds", 0), _arguments(params).get("label")
    return [WORKING] * (1 + int(seconds)) + [completed(f"{label} took {seconds} s")]


def _failing_job(params: Json) -> Made:
    return [WORKING, completed("it went wrong", isError=True)]


def _protocol_error_job(params: Json) -> Made:
    return [WORKING, {"status": "failed", "error": {"code": -32603, "message": "internal error"}}]


def _confirm_delete(params: Json) -> Made:
    return [WORKING, asking(confirm="boolean"), completed(f"deleted {_arguments(params).get('filename')}")]


def _multi_input(params: Json) -> Made:
    return [WORKING, asking(name="string", confirm="boolean"), completed("both were given")]


def _test_tool_with_task(params: Json) -> Made:
    given = (params.get("inputResponses") or {}).get("name")
    if given is None:
        asked = asking(name="string")["inputRequests"]
        return {"resultType": "input_required", "inputRequests": asked, "requestState": "asked"}
    return [WORKING, completed(f"Hello, {given['content']['name']}!")]


TOOLS: Final = {
    tool.name: tool
    for tool in (
        Tool("greet", {"name": "string"}, _greet),
        Tool("slow_compute", {"seconds": "integer", "label": "string"}, _slow_compute, waits=False),
        Tool("failing_job", {}, _failing_job),
        Tool("protocol_error_job", {}, _protocol_error_job),
        Tool("confirm_delete", {"filename": "string"}, _confirm_delete),
        Tool("multi_input", {}, _multi_input),
        Tool("test_tool_with_task", {}, _test_tool_with_task),
    )
}
