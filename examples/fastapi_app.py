"""An MCP server as one route of a FastAPI application, behind FastAPI's own dependency injection.

The dependency decides who is asking. The endpoint hands that on as the scope: every handler sees it as
`ctx.scope.principal`. A session belongs to the principal that opened it, and nobody else can use it.

    uvicorn examples.fastapi_app:app --timeout-graceful-shutdown 5

The time-out matters: a client may keep an event stream open for as long as it likes, and without it uvicorn
waits for that when it is told to stop.
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


@server.resource("notes://mine")
async def mine(ctx: Context) -> list[str]:
    """The notes of whoever asks."""
    return notebooks.get(ctx.scope.principal, [])


# What follows is the host: users and routes as any FastAPI application has them.


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


# The application has already routed the request: `path=None` serves whatever arrives here.
mcp = server.asgi(path=None)


class Answer(Response):
    """A response that the MCP application writes itself, as JSON or as an event stream."""

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        await mcp(scope, receive, send)


app = FastAPI()


@app.api_route("/mcp", methods=["POST", "GET", "DELETE"])
async def mcp_route(request: Request, user: Annotated[User, Depends(current_user)]) -> Response:
    request.scope["assay"] = Scope(principal=user.name, state={"user": user})
    return Answer()


@app.get("/health")
async def health() -> dict[str, str]:
    return {"status": "ok"}
