"""An MCP server without a transport: `Server.handle` takes one message and returns its answer, if it has one.

`function` is like the entry point of a serverless platform, which reads the HTTP request and sends the
returned response. A message queue or a test would call `handle` in the same way.

    python examples/handle_anywhere.py
"""

import asyncio
from typing import Any

from assay import Context, Scope, Server

server = Server("anywhere", version="1.0.0")


@server.tool
async def greet(name: str, ctx: Context) -> str:
    """Greet a person."""
    return f"Hello {name}, says the server to {ctx.scope.principal or 'a stranger'}."


def function(event: dict[str, Any], context: object = None) -> dict[str, Any]:
    """Answer one HTTP request."""
    scope = Scope(principal=event.get("user"), transport="function")
    reply = asyncio.run(server.handle(event["body"], scope=scope))
    if reply is None:
        return {"statusCode": 202}
    return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": reply.decode()}


if __name__ == "__main__":
    call = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}'
    )
    print(function({"body": call, "user": "bob"})["body"])
