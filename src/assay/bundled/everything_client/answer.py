"""Answers to the server's questions, as the context of a scenario says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from assay import ElicitationRequest, Elicited, Root, Sampled, SamplingRequest, Text, ToolUse

from .form import fill, values_for
from .task import Task

MODEL = "conformance"


class Answers:
    def __init__(self, task: Task, play: Callable[[Any], Awaitable[None]]) -> None:
        self.script: dict[str, Any] = task.context.get("answers", {})
        self.declared: frozenset[str] = frozenset(task.context.get("capabilities", ()))
        self.roots: list[dict[str, Any]] = self.script.get("roots", [])
        self.before: list[dict[str, Any]] = self.script.get("before_answering", [])
        self.play = play

    def options(self) -> dict[str, Any]:
        """The handlers for `Client`, which declares a capability for each."""
        handlers = {"elicitation": self.elicit, "sampling": self.sample, "roots": self.list_roots}
        areas = {name.partition(".")[0] for name in self.declared}
        return {**{area: handlers[area] for area in areas}, "capabilities": self.capabilities()}

    def capabilities(self) -> dict[str, Any]:
        """What differs from the capabilities that `Client` declares by itself."""
        capabilities: dict[str, Any] = {}
        if "sampling.tools" in self.declared:
            capabilities["sampling"] = {"tools": {}}
        if "elicitation" in self.declared and "elicitation.url" not in self.declared:
            capabilities["elicitation"] = {"form": {}}
        return capabilities

    async def prepare(self) -> None:
        """Take the steps before an answer; a question during these steps is answered at once."""
        steps, self.before = self.before, []
        await self.play(steps)
        self.before = steps

    async def elicit(self, request: ElicitationRequest) -> Elicited[dict[str, Any]]:
        await self.prepare()
        action = self.script.get("elicitation", "decline")
        is_form = action == "accept" and request.mode == "form"
        return Elicited(action, fill(request) if is_form else None)

    async def sample(self, request: SamplingRequest) -> Sampled:
        await self.prepare()
        if request.tools and (request.tool_choice or {}).get("mode") == "required":
            tool = request.tools[0]
            use = ToolUse("use-1", tool["name"], values_for(tool["inputSchema"]))
            return Sampled("assistant", use, MODEL, "toolUse")
        text = self.script.get("sampling", {}).get("text", "an answer")
        return Sampled("assistant", Text(text), MODEL, "endTurn")

    async def list_roots(self) -> list[Root]:
        await self.prepare()
        return [Root(root["uri"], root.get("name")) for root in self.roots]
