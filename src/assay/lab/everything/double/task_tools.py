"""The work behind a task, as a list of stages. Time advances with every look, so that no test waits."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct, field

from assay.lab.harness import Json
from assay.lab.harness.run.recording import now

Stage = dict[str, Any]
"""A status, with its fields."""
WORKING: Final[Stage] = {"status": "working"}
TTL: Final = 60_000
PACE: Final = 1


class Job(Struct):
    ahead: list[Stage]
    """The remaining stages; the last one is the end."""
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    created: str = field(default_factory=now)
    updated: str = field(default_factory=now)

    @property
    def seed(self) -> Json:
        """The task without the fields of its status."""
        return {
            "taskId": self.id,
            "status": self.ahead[0]["status"],
            "createdAt": self.created,
            "lastUpdatedAt": self.updated,
            "ttlMs": TTL,
            "pollIntervalMs": PACE,
        }

    def look(self) -> Json:
        """The task in full. A working task then advances by one stage."""
        task = {**self.seed, **self.ahead[0]}
        if self.ahead[0]["status"] == "working":
            self.go_on()
        return task

    def go_on(self) -> None:
        if len(self.ahead) > 1:
            self._become(self.ahead[1:])

    def take(self, answers: Json) -> None:
        """Take the requested answers, and ignore others."""
        requests = self.ahead[0].get("inputRequests", {})
        left = {key: question for key, question in requests.items() if key not in answers}
        if left:
            self._become([{"status": "input_required", "inputRequests": left}, *self.ahead[1:]])
        elif requests:
            self.go_on()

    def cancel(self) -> None:
        if len(self.ahead) > 1:
            self._become([{"status": "cancelled"}])

    def _become(self, ahead: list[Stage]) -> None:
        self.ahead = ahead
        self.updated = now()


Work = Json | list[Stage]
"""A result at once, or the stages of a task."""


class Tool(Struct, frozen=True):
    name: str
    properties: dict[str, str]
    run: Callable[[Json], Work]
    """Takes the parameters of the call."""
    waits: bool = True
    """Whether it refuses clients that do not declare tasks; otherwise they get the result at once."""

    @property
    def definition(self) -> Json:
        properties = {name: {"type": kind} for name, kind in self.properties.items()}
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return {"name": self.name, "description": f"Fixture {self.name}", "inputSchema": schema}


def text_result(text: str, **more: Any) -> Json:
    """The result of a tool that returns a text."""
    return {"resultType": "complete", "content": [{"type": "text", "text": text}], **more}


def completed(text: str, **more: Any) -> Stage:
    return {"status": "completed", "result": text_result(text, **more)}


def asking(**questions: str) -> Stage:
    """A stage that requests a string or boolean under each key."""
    requests = {key: _question(key, kind) for key, kind in questions.items()}
    return {"status": "input_required", "inputRequests": requests}


def _question(key: str, kind: str) -> Json:
    schema = {"type": "object", "properties": {key: {"type": kind}}, "required": [key]}
    params = {"mode": "form", "message": f"Give the {key}", "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def _arguments(params: Json) -> Json:
    return params.get("arguments") or {}


def _greet(params: Json) -> Work:
    return text_result(f"Hello, {_arguments(params).get('name')}!")


def _slow_compute(params: Json) -> Work:
    seconds, label = _arguments(params).get("seconds", 0), _arguments(params).get("label")
    return [WORKING] * (1 + int(seconds)) + [completed(f"{label} took {seconds} s")]


def _failing_job(params: Json) -> Work:
    return [WORKING, completed("it went wrong", isError=True)]


def _protocol_error_job(params: Json) -> Work:
    return [WORKING, {"status": "failed", "error": {"code": -32603, "message": "internal error"}}]


def _confirm_delete(params: Json) -> Work:
    return [WORKING, asking(confirm="boolean"), completed(f"deleted {_arguments(params).get('filename')}")]


def _multi_input(params: Json) -> Work:
    return [WORKING, asking(name="string", confirm="boolean"), completed("both were given")]


def _test_tool_with_task(params: Json) -> Work:
    answer = (params.get("inputResponses") or {}).get("name")
    if answer is None:
        requests = asking(name="string")["inputRequests"]
        return {"resultType": "input_required", "inputRequests": requests, "requestState": "asked"}
    return [WORKING, completed(f"Hello, {answer['content']['name']}!")]


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
