"""An MCP server behind any HTTP host: `Server.http` takes a request and returns the response to send.

`function` is like the entry point of a platform that reads the HTTP request and sends what is returned. The
rules are those of the ASGI application: status codes, Host and Origin, protocol versions. `Server.handle`
needs no HTTP: it takes one message and returns its answer, for queues and tests.

    python examples/handle_anywhere.py
"""

import asyncio
from typing import Any

from assay import Context, Scope, Server

server = Server("anywhere", version="1.0.0")
# One JSON object per request: this host cannot send streams, and starts anew for each request.
server.configure_http(stream="off")


@server.tool
async def greet(name: str, ctx: Context) -> str:
    """Greet a person."""
    return f"Hello {name}, says the server to {ctx.scope.principal or 'a stranger'}."


def function(event: dict[str, Any]) -> dict[str, Any]:
    """Answer one HTTP request."""
    caller = Scope(principal=event.get("user"))
    response = asyncio.run(
        server.http(event["method"], event["path"], event["headers"], event["body"], scope=caller)
    )
    return {"status": response.status, "headers": dict(response.headers), "body": response.body.decode()}


if __name__ == "__main__":
    call = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}'
    )
    headers = {"Host": "localhost", "Content-Type": "application/json", "Accept": "application/json"}
    print(
        function({"method": "POST", "path": "/mcp", "headers": headers, "body": call, "user": "bob"})["body"]
    )
