"""An MCP server as an AWS Lambda function behind an HTTP API of API Gateway, or a function URL.

The handler is `examples.aws_lambda.handler`. A function answers with one response and may be stopped between
two requests, so it serves plain HTTP: without streams, sessions, progress and questions to the client.
"""

import asyncio
from base64 import b64decode
from typing import Any

from assay import Context, Scope, Server

server = Server("lambda", version="1.0.0")
server.configure_http(
    stream="off",
    allowed_hosts=["localhost", "mcp.example.com"],  # the domain of the API
)


@server.tool
async def count(to: int, ctx: Context) -> str:
    """Count, and report progress."""
    for number in range(to):
        await ctx.progress(number + 1, total=to)
    return f"counted to {to} for {ctx.scope.principal or 'anyone'}"


# One loop for all requests of this process: what handlers open, such as a connection pool, belongs to it.
runner = asyncio.Runner()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one event of payload format 2.0."""
    request = event["requestContext"]
    claims = request.get("authorizer", {}).get("jwt", {}).get("claims", {})
    caller = Scope(principal=claims.get("sub"), client_address=lambda: request["http"]["sourceIp"])
    path = f"{event['rawPath']}?{event.get('rawQueryString', '')}"
    body = event.get("body") or ""
    data = b64decode(body) if event.get("isBase64Encoded") else body
    response = runner.run(server.http(request["http"]["method"], path, event["headers"], data, scope=caller))
    return {
        "statusCode": response.status,
        "headers": dict(response.headers),
        "body": response.body.decode(),
        "isBase64Encoded": False,
    }
