"""Runs the tool `ask_user` of a server as a task with the fastmcp client, and answers its question."""

import asyncio
import sys

import fastmcp_tasks
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult


async def answer(message, response_type, params, context):
    print("asked:", message)
    return ElicitResult(action="accept", content={"name": "Ada", "colour": "green"})


async def main() -> None:
    async with Client(sys.argv[1], elicitation_handler=answer) as client:
        task = await fastmcp_tasks.call_tool_task(client, "ask_user", {})
        print("task:", bool(task.task_id))
        result = await task.result()
        print("result:", result.content[0].text)


asyncio.run(main())
