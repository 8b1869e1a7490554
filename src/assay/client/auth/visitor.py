"""How a user gets to the authorization page, and the answer back to the program."""

from __future__ import annotations

import asyncio
import inspect
import webbrowser
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from assay.client.log import client_logger
from assay.model.client_error import AuthorizationFailed
from assay.protocol.oauth.effect import Visit

from .http_client import HttpClient
from .loopback import LoopbackListener

VisitFunction = Callable[[str], str | Awaitable[str]]
"""Takes the authorization URL and returns the URL that the user was redirected to."""
WITHOUT_LISTENER: Final = "http://127.0.0.1/callback"


class Visitor(Protocol):
    """For one authorization."""

    async def listen(self, preferred: str | None) -> str:
        """Prepare for the redirect; returns the redirect URI."""
        ...

    async def visit(self, visit: Visit) -> str: ...

    async def close(self) -> None: ...


class BrowserVisitor:
    """Opens the user's browser, and listens on this machine."""

    def __init__(self, redirect_uri: str | None = None) -> None:
        self._fixed = redirect_uri
        self._listener: LoopbackListener | None = None

    async def listen(self, preferred: str | None) -> str:
        await self.close()
        self._listener = LoopbackListener()
        return await self._listener.open(preferred, self._fixed)

    async def visit(self, visit: Visit) -> str:
        assert self._listener is not None
        self._listener.expect(visit.state)
        if not await asyncio.to_thread(webbrowser.open, visit.url):
            client_logger().warning("open this page in a browser to authorize the program: %s", visit.url)
        return await self._listener.wait()

    async def close(self) -> None:
        if self._listener is not None:
            await self._listener.close()
            self._listener = None


class FunctionVisitor:
    """Leaves it to a function of the user's program."""

    def __init__(self, function: VisitFunction, redirect_uri: str | None = None) -> None:
        self._function = function
        self._redirect_uri = redirect_uri or WITHOUT_LISTENER

    async def listen(self, preferred: str | None) -> str:
        return self._redirect_uri

    async def visit(self, visit: Visit) -> str:
        outcome = self._function(visit.url)
        url = await outcome if inspect.isawaitable(outcome) else outcome
        if not isinstance(url, str):
            raise AuthorizationFailed("visit= must return the URL that the user was redirected to")
        return url.strip()

    async def close(self) -> None:
        return


class HeadlessVisitor:
    """Follows redirects: for servers that decide without asking a person."""

    def __init__(self, http: HttpClient, redirect_uri: str | None = None) -> None:
        self._http = http
        self._redirect_uri = redirect_uri or WITHOUT_LISTENER

    async def listen(self, preferred: str | None) -> str:
        return self._redirect_uri

    async def visit(self, visit: Visit) -> str:
        return await self._http.follow(visit.url, visit.redirect_uri)

    async def close(self) -> None:
        return
