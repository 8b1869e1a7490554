"""An HTTP client on real sockets, with the same interface as `AsgiPeer`."""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import Any

import httpx2

from tests.driving.answer import PATIENCE, Answer
from tests.driving.asgi import BOTH


class SocketAnswer(Answer):
    def __init__(self, client: httpx2.AsyncClient, method: str, url: str, **options: Any) -> None:
        super().__init__()
        self.task = asyncio.get_running_loop().create_task(self._run(client, method, url, options))

    async def _run(self, client: httpx2.AsyncClient, method: str, url: str, options: dict[str, Any]) -> None:
        try:
            async with client.stream(method, url, **options) as response:
                self.start_with(response.status_code, dict(response.headers))
                async for chunk in response.aiter_raw():
                    self.add(chunk)
        finally:
            self.end()

    def leave(self) -> None:
        self.task.cancel()


class SocketPeer:
    def __init__(self, url: str) -> None:
        self.url = url
        self.session: str | None = None
        self.version: str | None = None
        self._client = httpx2.AsyncClient(timeout=PATIENCE, trust_env=False)
        self._answers: list[SocketAnswer] = []

    async def __aenter__(self) -> SocketPeer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for answer in self._answers:
            answer.leave()
        await asyncio.gather(*(answer.task for answer in self._answers), return_exceptions=True)
        await self._client.aclose()

    def begin(self, method: str, body: Any = b"", *, headers: dict[str, str] | None = None) -> SocketAnswer:
        usual = {"content-type": "application/json", "accept": BOTH} if method == "POST" else {"accept": BOTH}
        values = {
            **usual,
            "mcp-session-id": self.session,
            "mcp-protocol-version": self.version,
            **(headers or {}),
        }
        sent = {name: value for name, value in values.items() if value is not None}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = SocketAnswer(self._client, method, self.url, headers=sent, content=content)
        self._answers.append(answer)
        return answer

    async def send(self, method: str, **options: Any) -> Answer:
        return await self.begin(method, **options).complete()

    async def post(self, body: Any, **options: Any) -> Answer:
        return await self.begin("POST", body, **options).complete()
