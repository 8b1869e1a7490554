"""Runs the tool `ask_user` of a server as a task of 2025-11-25, and answers its question."""

import asyncio
import sys

from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client


async def answer(context, params):
    print("asked:", params.message)
    return types.ElicitResult(action="accept", content={"name": "Ada", "colour": "green"})


async def main() -> None:
    async with (
        streamable_http_client(sys.argv[1]) as (read, write, _),
        ClientSession(read, write, elicitation_callback=answer) as session,
    ):
        await session.initialize()
        created = await session.experimental.call_tool_as_task("ask_user", {})
        task = created.task
        print("task:", bool(task.taskId))
        async for status in session.experimental.poll_task(task.taskId):
            if status.status == "input_required":
                break
        result = await session.experimental.get_task_result(task.taskId, types.CallToolResult)
        print("result:", result.content[0].text)


asyncio.run(main())
