"""A fastmcp server whose tool runs as a task and asks a question."""

import socket

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp_tasks import TasksExtension
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
mcp = FastMCP("fastmcp-tasks")
mcp.add_extension(TasksExtension(url="memory://"))


@mcp.tool(task=True)
async def ask(ctx: Context) -> str | InputRequiredResult:
    """Asks for a name while it works"""
    if ctx.input_responses is None:
        params = ElicitRequestFormParams(message="What is your name?", requested_schema=FORM)
        return InputRequiredResult(
            input_requests={"name": ElicitRequest(params=params)}, request_state="asked"
        )
    reply = ctx.input_responses["name"]
    return f"{reply.action}: {reply.content['name']}"


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"MCP endpoint: http://localhost:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(mcp.http_app(path="/mcp"), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])
