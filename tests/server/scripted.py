"""A client in the same process, driven step by step."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from assay import Scope, Server

FIRST, BATCHING, STRUCTURED, NEWEST = "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"
GUARD = 5.0
"""Turns a hang into a failure; nothing is expected to take this long."""


class ScriptedClient:
    """`async with ScriptedClient(server) as client:` initializes a session and closes it at the end."""

    def __init__(
        self,
        server: Server,
        *,
        revision: str = NEWEST,
        capabilities: Mapping[str, Any] | None = None,
        principal: Any = None,
    ) -> None:
        self.server = server
        self.revision = revision
        self.capabilities = dict(capabilities or {})
        self.incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.session = server.open_session(self._take, principal=principal)
        self.scope = Scope(session=self.session, principal=principal)
        self._last_id = 0

    async def __aenter__(self) -> Self:
        await self.initialize()
        await self.notify("notifications/initialized")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.close_session(self.session)

    async def initialize(self) -> dict[str, Any]:
        return await self.result(
            "initialize",
            protocolVersion=self.revision,
            capabilities=self.capabilities,
            clientInfo={"name": "scripted", "version": "1"},
        )

    def _take(self, data: bytes) -> None:
        self.incoming.put_nowait(json.loads(data))

    async def _send(self, data: bytes) -> None:
        self._take(data)

    async def deliver(self, message: Mapping[str, Any]) -> Any:
        """Send one message; its answer, or none."""
        async with asyncio.timeout(GUARD):
            answer = await self.server.handle(message, send=self._send, scope=self.scope)
        return None if answer is None else without_success(json.loads(answer))

    async def request(self, method: str, **params: Any) -> Any:
        self._last_id += 1
        return await self.deliver({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})

    async def result(self, method: str, **params: Any) -> Any:
        return (await self.request(method, **params))["result"]

    async def error(self, method: str, **params: Any) -> Any:
        return (await self.request(method, **params))["error"]

    async def call(self, tool: str, **arguments: Any) -> Any:
        return await self.result("tools/call", name=tool, arguments=arguments)

    async def text_of(self, tool: str, **arguments: Any) -> str:
        """The text of a tool's only block, whether it went well or not."""
        (block,) = (await self.call(tool, **arguments))["content"]
        text: str = block["text"]
        return text

    def start_call(self, tool: str, **arguments: Any) -> asyncio.Task[Any]:
        """Call a tool and go on; the request has the next id."""
        return asyncio.create_task(self.request("tools/call", name=tool, arguments=arguments))

    async def notify(self, method: str, **params: Any) -> None:
        assert await self.deliver({"jsonrpc": "2.0", "method": method, "params": params}) is None

    async def cancel(self, request_id: int | str, reason: str = "test") -> None:
        await self.notify("notifications/cancelled", requestId=request_id, reason=reason)

    async def receive(self) -> dict[str, Any]:
        """The next message from the server."""
        async with asyncio.timeout(GUARD):
            return await self.incoming.get()

    def received_so_far(self) -> list[dict[str, Any]]:
        return [self.incoming.get_nowait() for _ in range(self.incoming.qsize())]

    async def answer(self, question: dict[str, Any], result: Any) -> None:
        assert await self.deliver({"jsonrpc": "2.0", "id": question["id"], "result": result}) is None

    async def refuse(self, question: dict[str, Any], code: int, message: str) -> None:
        error = {"code": code, "message": message}
        assert await self.deliver({"jsonrpc": "2.0", "id": question["id"], "error": error}) is None


async def ask(server: Server, method: str, *, revision: str | None = None, **params: Any) -> Any:
    """One request without a session."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with asyncio.timeout(GUARD):
        answer = await server.handle(message, scope=Scope(revision=revision))
    assert answer is not None
    return without_success(json.loads(answer))


def without_success(answer: Any) -> Any:
    """An answer without `"isError": false`, which every successful result of a tool has."""
    result = answer.get("result") if isinstance(answer, dict) else None
    if isinstance(result, dict) and result.get("isError") is False:
        del result["isError"]
    return answer


async def call(server: Server, tool: str, arguments: Any = None, *, revision: str | None = None) -> Any:
    answer = await ask(server, "tools/call", revision=revision, name=tool, arguments=arguments or {})
    return answer.get("result", answer.get("error"))


async def finished(task: asyncio.Task[Any]) -> Any:
    async with asyncio.timeout(GUARD):
        return await task


async def reached(event: asyncio.Event) -> None:
    async with asyncio.timeout(GUARD):
        await event.wait()


async def quiescence() -> None:
    """Let everything run that is ready, to assert that nothing more happens."""
    loop = asyncio.get_running_loop()
    for _ in range(50):
        turn = loop.create_future()
        loop.call_soon(turn.set_result, None)
        await turn
