"""An MCP server as one route of a FastAPI application, with FastAPI's dependency injection.

The dependency authenticates the caller. The route passes the user on as the scope, which handlers read as
`ctx.scope.principal`. Only the principal that opened a session can use it.

    uvicorn examples.fastapi_app:app --timeout-graceful-shutdown 5

The timeout matters: clients may keep event streams open indefinitely, and without it uvicorn waits for them
when it stops.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from assay import Context, Scope, Server

server = Server("notebook", version="1.0.0")
notebooks: dict[str, list[str]] = {}


@server.tool
async def remember(note: str, ctx: Context) -> str:
    """Write a note into the caller's own notebook."""
    notebooks.setdefault(ctx.scope.principal, []).append(note)
    return f"{ctx.scope.state['user'].full_name} has {len(notebooks[ctx.scope.principal])} notes"


@server.tool
async def count(to: int, ctx: Context) -> str:
    """Count, and report progress."""
    for number in range(to):
        await ctx.progress(number + 1, total=to)
    return f"counted to {to} for {ctx.scope.principal}"


@server.resource("notes://mine")
async def mine(ctx: Context) -> list[str]:
    """The caller's notes."""
    return notebooks.get(ctx.scope.principal, [])


# The host application: users and routes as in any FastAPI application.


@dataclass(frozen=True)
class User:
    name: str
    full_name: str


TOKENS = {"token-of-ada": User("ada", "Ada Lovelace"), "token-of-bob": User("bob", "Bob Kahn")}


def current_user(
    credentials: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())],
) -> User:
    user = TOKENS.get(credentials.credentials)
    if user is None:
        raise HTTPException(401, "unknown token", {"WWW-Authenticate": "Bearer"})
    return user


# FastAPI has already routed the request: with `path=None`, the endpoint does not check its path.
mcp = server.asgi(path=None)


class McpResponse(Response):
    """A response that the MCP application writes itself, as JSON or as an event stream."""

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        await mcp(scope, receive, send)


app = FastAPI()


@app.api_route("/mcp", methods=["POST", "GET", "DELETE"])
async def mcp_route(request: Request, user: Annotated[User, Depends(current_user)]) -> Response:
    request.scope["assay"] = Scope(principal=user.name, state={"user": user})
    return McpResponse()


@app.get("/health")
async def health() -> dict[str, str]:
    return {"status": "ok"}
