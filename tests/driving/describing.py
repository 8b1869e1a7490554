"""Self-describing requests, and a client in this process that sends them and validates all messages by the
official types."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from mcp_types.methods import parse_server_notification, validate_server_result

from assay import Scope, Server
from assay.extensions.registry import EXTENSIONS
from assay.revisions.registry import PER_REQUEST
from tests.driving.answer import PATIENCE
from tests.driving.messages import request

REVISION = PER_REQUEST[-1]
EXTENSION_NOTIFICATIONS = {method for extension in EXTENSIONS for method in extension.notifications}
PREFIX = "io.modelcontextprotocol/"
VERSION, CAPABILITIES, LOG_LEVEL, SUBSCRIPTION, SERVER_INFO = (
    f"{PREFIX}{name}"
    for name in ("protocolVersion", "clientCapabilities", "logLevel", "subscriptionId", "serverInfo")
)
ASKABLE: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def describe(
    method: str,
    params: Mapping[str, Any] | None = None,
    request_id: int | str = 1,
    *,
    capabilities: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A request of the revision without a handshake; `meta` is added to its declaration."""
    declaration = {VERSION: REVISION.date, CAPABILITIES: capabilities or {}, **(meta or {})}
    return request(method, {**(params or {}), "_meta": declaration}, request_id)


def mirrors(message: Mapping[str, Any]) -> dict[str, str | None]:
    """The headers that mirror a request."""
    params = message.get("params", {})
    headers: dict[str, str | None] = {
        "mcp-protocol-version": params.get("_meta", {}).get(VERSION, REVISION.date),
        "mcp-method": message["method"],
    }
    if message["method"] in NAMED:
        headers["mcp-name"] = params.get(NAMED[message["method"]])
    return headers


def encoded(text: str) -> str:
    return f"=?base64?{b64encode(text.encode()).decode()}?="


class DescribingClient:
    """Sends requests without a session; `heard` holds the notifications, in order."""

    def __init__(
        self,
        server: Server,
        *,
        capabilities: Mapping[str, Any] | None = None,
        principal: Any = None,
        transport: str = "memory",
    ) -> None:
        self.server = server
        self.capabilities = ASKABLE if capabilities is None else capabilities
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._scope = {"principal": principal, "transport": transport}
        self._last_id = 0

    async def _send(self, data: bytes) -> None:
        message = json.loads(data)
        if message["method"] not in EXTENSION_NOTIFICATIONS:  # the official types have none of extensions
            parse_server_notification(message["method"], REVISION.date, message.get("params"))
        self.heard.put_nowait(message)

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, meta: Any = None, **scope: Any
    ) -> dict[str, Any]:
        """Send a request and return its whole answer."""
        self._last_id += 1
        message = describe(method, params, self._last_id, capabilities=self.capabilities, meta=meta)
        async with asyncio.timeout(PATIENCE):
            data = await self.server.handle(message, send=self._send, scope=Scope(**self._scope, **scope))
        assert data is not None
        answer: dict[str, Any] = json.loads(data)
        assert answer.pop("id") == self._last_id
        if "result" in answer:
            validate_server_result(method, REVISION.date, answer["result"])
        return answer

    async def result(self, method: str, params: Mapping[str, Any] | None = None, **options: Any) -> Any:
        answer = await self.request(method, params, **options)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, params: Mapping[str, Any] | None = None, **options: Any) -> Any:
        answer = await self.request(method, params, **options)
        assert "error" in answer, answer
        return answer["error"]

    async def call(self, name: str, /, answering: Mapping[str, Any] | None = None, **arguments: Any) -> Any:
        """Call a tool, or retry a call with answers and state."""
        return await self.result("tools/call", {"name": name, "arguments": arguments, **(answering or {})})

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            return await self.heard.get()


def answering(questions: Mapping[str, Any], **responses: Any) -> dict[str, Any]:
    """The parameters that a client adds to a retried request; underscores in names become hyphens."""
    return {
        "requestState": questions["requestState"],
        "inputResponses": {name.replace("_", "-"): response for name, response in responses.items()},
    }


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def sampled(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": {"type": "text", "text": text}, "model": "m"}


def text_of(result: Mapping[str, Any]) -> str:
    """The text of a complete result with one block."""
    assert result["resultType"] == "complete", result
    (block,) = result["content"]
    text: str = block["text"]
    return text
