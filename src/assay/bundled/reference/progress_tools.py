"""Tools that report progress and log messages while they run."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from msgspec import Meta

from assay import Context, Server

READ_ONLY: Final = {"readOnlyHint": True, "openWorldHint": False}
MOST_SECONDS: Final = 60
INTERVAL: Final = 0.05
"""Seconds between two numbers of `count`, so that it can be cancelled in between."""
LOGGER: Final = "reference"
LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


async def long_task(
    ctx: Context,
    seconds: Annotated[float, Meta(ge=0, le=MOST_SECONDS, description="How long it runs")] = 2.0,
    steps: Annotated[int, Meta(ge=1, le=100, description="How often it reports progress")] = 4,
) -> str:
    """Runs for a while, reports progress, and stops when it is cancelled; also as a task"""
    for step in range(steps):
        await ctx.progress(step, total=steps, message=f"step {step + 1} of {steps}")
        await asyncio.sleep(seconds / steps)
    await ctx.progress(steps, total=steps, message="done")
    return f"Finished {steps} steps"


async def count(
    ctx: Context, to: Annotated[int, Meta(ge=1, le=100, description="The last number")] = 3
) -> str:
    """Counts up, and reports each number as progress and in the log"""
    for number in range(1, to + 1):
        await ctx.progress(number, total=to, message=f"{number} of {to}")
        await ctx.log("info", f"counted to {number}", logger=LOGGER)
        await asyncio.sleep(INTERVAL)
    return f"Counted to {to}"


async def log_each_level(ctx: Context) -> str:
    """Logs one message at each level; the client receives those at its level and above"""
    for level in LEVELS:
        await ctx.log(level, f"A message of level {level}", logger=LOGGER)
    return f"Logged at {len(LEVELS)} levels"


def register(server: Server) -> None:
    server.tool(title="Long Task", annotations=READ_ONLY, task="optional")(long_task)
    server.tool(title="Count", annotations=READ_ONLY)(count)
    server.tool(title="Log at Each Level", annotations=READ_ONLY)(log_each_level)
