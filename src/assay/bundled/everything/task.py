"""The fixtures of tasks: tools that run as one for clients that can have tasks."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal, TypeAlias

from assay import Context, RpcError, Server, ToolError

Mode: TypeAlias = Literal["optional", "required", "on_demand"]
PAUSE = 1.0
"""Seconds until a job fails, so that clients see it working."""


def question(name: str, kind: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}


async def greet(name: str) -> str:
    """Greets at once, never as a task"""
    return f"Hello, {name}!"


async def slow_compute(
    ctx: Context, seconds: Annotated[float, "How long it takes"] = 1.0, label: str = "result"
) -> str:
    """Computes for some seconds, and reports progress"""
    steps = max(1, round(seconds))
    for step in range(steps):
        await ctx.progress(step, total=steps, message=f"{label}: step {step + 1} of {steps}")
        await asyncio.sleep(seconds / steps)
    return f"{label}: computed for {seconds:g} s"


async def failing_job() -> str:
    """Fails after a while, with an error result"""
    await asyncio.sleep(PAUSE)
    raise ToolError("This job intentionally fails for testing")


async def protocol_error_job() -> str:
    """Fails with a JSON-RPC error"""
    raise RpcError(-32603, "This job intentionally ends with a JSON-RPC error")


async def confirm_delete(filename: str, ctx: Context) -> str:
    """Asks for a confirmation while it works"""
    elicited = await ctx.elicit(f"Delete {filename}?", question("confirm", "boolean"), key="confirm")
    confirmed = elicited.accepted and elicited.data["confirm"]
    return f"Deleted {filename}" if confirmed else f"Left {filename} alone"


async def multi_input(ctx: Context) -> str:
    """Asks two questions at once while it works"""
    name, confirmation = await asyncio.gather(
        ctx.elicit("What is your name?", question("name", "string"), key="name"),
        ctx.elicit("Please confirm", question("confirm", "boolean"), key="confirm"),
    )
    return f"name: {name.action}, confirmation: {confirmation.action}"


async def test_tool_with_task(ctx: Context) -> str:
    """Asks for a name in its request, then works as a task"""
    elicited = await ctx.elicit("What is your name?", question("name", "string"), key="name")
    await ctx.start_task()
    await asyncio.sleep(PAUSE / 10)
    return f"Hello, {elicited.data['name'] if elicited.accepted else 'stranger'}!"


TASK_TOOLS: dict[Any, Mode | None] = {
    greet: None,
    slow_compute: "optional",
    protocol_error_job: "required",
    confirm_delete: "optional",
    multi_input: "optional",
    failing_job: "required",
    test_tool_with_task: "on_demand",
}
"""The tools, and how each runs as a task."""


def add_task_tools(server: Server) -> None:
    for function, mode in TASK_TOOLS.items():
        server.tools.add(function, task=mode)
