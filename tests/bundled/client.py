"""An in-memory client of the everything server; the official types validate every message it receives."""

import asyncio
import json
from typing import Any

import mcp_types.methods as oracle

from assay import Scope
from assay.bundled.everything import server


class Client:
    """A client in memory. `answers` has its answers to requests, by method."""

    def __init__(self, date: str, answers: dict[str, Any]) -> None:
        self.date = date
        self.answers = answers
        self.sent: list[dict[str, Any]] = []
        self.posted: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.detached: list[float | None] = []
        self.scope = Scope(session=server.open_session(self.post), transport="memory", detach=self.detach)
        self.ids = iter(range(1, 1000))

    def post(self, data: bytes) -> None:
        self.posted.put_nowait(self.judged(data))

    async def detach(self, retry: float | None) -> None:
        self.detached.append(retry)

    async def receive(self, data: bytes) -> None:
        message = self.judged(data)
        self.sent.append(message)
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": self.answers[message["method"]]}
            await server.handle(answer, scope=self.scope)

    def judged(self, data: bytes) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(data)
        parse = oracle.parse_server_request if "id" in message else oracle.parse_server_notification
        parse(message["method"], self.date, message.get("params"))
        return message

    async def call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": next(self.ids), "method": method}
        if params is not None:
            message["params"] = params
        reply = await server.handle(message, send=self.receive, scope=self.scope)
        assert reply is not None
        return dict(json.loads(reply))

    async def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = (await self.call(method, params))["result"]
        oracle.validate_server_result(method, self.date, result)
        return result

    async def tool(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        return await self.result("tools/call", {"name": name, "arguments": arguments})

    async def open(self) -> dict[str, Any]:
        capabilities: dict[str, Any] = {name: {} for name in ("sampling", "elicitation") if self.answers}
        info = {"name": "test", "version": "1"}
        params = {"protocolVersion": self.date, "capabilities": capabilities, "clientInfo": info}
        opened = await self.result("initialize", params)
        await server.handle({"jsonrpc": "2.0", "method": "notifications/initialized"}, scope=self.scope)
        return opened
