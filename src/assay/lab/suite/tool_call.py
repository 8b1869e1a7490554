"""Tool calls in a trace, with the definition of the tool and the outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from assay.lab.harness import Trace
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.json_schema import value_problem
from assay.lab.harness.trace.trace import Exchange


class ToolCall(Struct, frozen=True):
    exchange: Exchange
    tool: dict[str, Any]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def name(self) -> str:
        return str(self.tool.get("name"))

    @property
    def result(self) -> dict[str, Any]:
        return self.exchange.result or {}

    @property
    def succeeded(self) -> bool:
        return succeeded(self.exchange)

    @property
    def failed(self) -> bool:
        """Whether the result has `isError`."""
        return self.result.get("isError") is True

    @property
    def misfit(self) -> str | None:
        """Why the arguments do not fit the tool's schema; None if they do or the schema cannot be used."""
        return value_problem(self.exchange.params.get("arguments", {}), self.tool.get("inputSchema"))

    @property
    def blocks(self) -> list[dict[str, Any]]:
        return self.exchange.objects("content")


def succeeded(exchange: Exchange) -> bool:
    """Whether a call is complete and did not fail."""
    result = exchange.result
    return result is not None and not result.get("isError") and result.get("resultType") != "input_required"


def listed_tools(trace: Trace) -> dict[str, dict[str, Any]]:
    """The listed tools by name."""
    tools = (tool for exchange in trace.exchanges("tools/list") for tool in exchange.objects("tools"))
    return {tool["name"]: tool for tool in tools if isinstance(tool.get("name"), str)}


def tool_calls(trace: Trace) -> Iterator[ToolCall]:
    """The answered calls of listed tools."""
    tools = listed_tools(trace)
    for exchange in trace.exchanges("tools/call"):
        name = exchange.params.get("name")
        if isinstance(name, str) and name in tools and exchange.answer is not None:
            yield ToolCall(exchange, tools[name])
