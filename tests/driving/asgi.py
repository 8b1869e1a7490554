"""An HTTP client for an ASGI application in this process: full duplex, without sockets."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

from assay.protocol.http.asgi import Message
from assay.protocol.scope import Scope
from assay.revisions.revision import Revision
from tests.driving.answer import Answer
from tests.driving.messages import call, initialize, notification

BOTH = "application/json, text/event-stream"


class AsgiAnswer(Answer):
    """Runs the application for one request. After `leave`, `send` raises an OSError, as ASGI requires."""

    def __init__(
        self, app: Any, scope: dict[str, Any], parts: Sequence[bytes], *, stalls: bool = False
    ) -> None:
        super().__init__()
        self._parts = deque(parts)
        self._stalls = stalls
        self._left = asyncio.Event()
        self.task = asyncio.get_running_loop().create_task(self._run(app, scope))

    async def _run(self, app: Any, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._send)
        except OSError:
            assert self._left.is_set()
        finally:
            self.end()

    async def _receive(self) -> Message:
        if self._parts:
            part = self._parts.popleft()
            return {"type": "http.request", "body": part, "more_body": bool(self._parts) or self._stalls}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self._left.is_set():
            raise OSError("the client is gone")
        if message["type"] == "http.response.start":
            pairs = message.get("headers", [])
            self.start_with(message["status"], {name.decode(): value.decode() for name, value in pairs})
        else:
            self.add(message.get("body", b""))
            if not message.get("more_body", False):
                self.end()

    def leave(self) -> None:
        """Disconnect."""
        self._left.set()


class AsgiPeer:
    """Sends requests as one client; `session` and `version` are sent as headers once they are set."""

    def __init__(self, app: Any, *, path: str = "/mcp", principal: Any = None, **scope: Any) -> None:
        self.app = app
        self.path = path
        self.session: str | None = None
        self.version: str | None = None
        self._scope = scope
        if principal is not None:
            self._scope["assay"] = Scope(principal=principal)
        self._answers: list[AsgiAnswer] = []

    async def __aenter__(self) -> AsgiPeer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for answer in self._answers:
            answer.leave()
            answer.task.cancel()
        outcomes = await asyncio.gather(*(answer.task for answer in self._answers), return_exceptions=True)
        failures = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        if failures and error is None:
            raise failures[0]

    def begin(
        self,
        method: str,
        body: Any = b"",
        *,
        headers: dict[str, str | None] | None = None,
        doubled: Iterable[tuple[str, str]] = (),
        stalls: bool = False,
    ) -> AsgiAnswer:
        """Send a request and return at once. A list of bytes is sent in chunks; other values are sent as
        JSON."""
        chunked = isinstance(body, list) and bool(body) and isinstance(body[0], bytes)
        parts = body if chunked else [body if isinstance(body, bytes) else json.dumps(body).encode()]
        pairs = [*self._headers(method, headers or {}).items(), *doubled]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "path": self.path,
            "raw_path": self.path.encode(),
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 3000),
            "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in pairs],
            **self._scope,
        }
        answer = AsgiAnswer(self.app, scope, parts, stalls=stalls)
        self._answers.append(answer)
        return answer

    def _headers(self, method: str, changed: dict[str, str | None]) -> dict[str, str]:
        usual = {"POST": {"content-type": "application/json", "accept": BOTH}}.get(method, {})
        if method == "GET":
            usual = {"accept": "text/event-stream"}
        headers: dict[str, str | None] = {
            "host": "localhost:3000",
            **usual,
            "mcp-session-id": self.session,
            "mcp-protocol-version": self.version,
            **changed,
        }
        return {name: value for name, value in headers.items() if value is not None}

    async def post(self, body: Any, **options: Any) -> Answer:
        return await self.begin("POST", body, **options).complete()

    async def send(self, method: str, **options: Any) -> Answer:
        return await self.begin(method, **options).complete()

    async def call(self, name: str, /, request_id: int | str = "call", **arguments: Any) -> Answer:
        return await self.post(call(name, request_id, **arguments))

    async def shake_hands(self, revision: Revision, **capabilities: Any) -> AsgiPeer:
        """Open a session and use it from here on."""
        answer = await self.post(initialize(revision, capabilities))
        assert answer.status == 200, answer.body
        self.session = answer.headers.get("mcp-session-id")
        self.version = answer.json["result"]["protocolVersion"]
        assert self.version == revision.date
        assert (await self.post(notification("notifications/initialized"))).status == 202
        return self
