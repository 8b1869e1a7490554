"""Servers whose answers are valid but for some parts, which are chosen at random from a seed."""

from __future__ import annotations

import json
from random import Random
from typing import Any, Final

from assay import Client, ClientError, ClientLimits, Retry
from tests.client.scripted import (
    DISCOVERY,
    INITIALIZED,
    HttpRequest,
    Responder,
    Writer,
    http_response,
    raw_http,
)

VALUES: Final = (
    *(None, True, 0, -1, 2**64, 1e308, "", "\x00", "\u202e", "a" * 5000, "assay-1", "http://["),
    *([], {}, [None], {"a": None}, [[[]]]),
)
TOOL: Final = {
    "name": "tool",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}},
    "outputSchema": {"type": "object", "properties": {"x": {"type": "integer"}}},
    "annotations": {"readOnlyHint": True},
}
QUESTION: Final = {"mode": "form", "message": "m", "requestedSchema": {"type": "object", "properties": {}}}
ASKING: Final = {
    "resultType": "input_required",
    "inputRequests": {"a": {"method": "elicitation/create", "params": QUESTION}},
    "requestState": "state",
}
PAGE: Final = {"elicitationId": "1", "url": "https://page.example", "message": "m", "mode": "url"}
RESULTS: Final[dict[str, dict[str, Any]]] = {
    "server/discover": DISCOVERY,
    "initialize": INITIALIZED,
    "tools/list": {"tools": [TOOL], "ttlMs": 5, "resultType": "complete"},
    "tools/call": {"content": [{"type": "text", "text": "t"}], "structuredContent": {"x": 1}},
    "resources/list": {"resources": [{"uri": "data://r", "name": "r"}]},
    "resources/read": {"contents": [{"uri": "data://r", "blob": "AAAA"}]},
    "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}]},
    "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "t"}}]},
    "completion/complete": {"completion": {"values": ["v"]}},
    "skills/list": {"skills": [{"uri": "skill://s/SKILL.md", "name": "s", "description": "d"}]},
}
NOTICES: Final = (
    *("notifications/progress", "notifications/message", "notifications/tools/list_changed"),
    *("notifications/resources/updated", "notifications/cancelled", "notifications/elicitation/complete"),
    *("notifications/subscriptions/acknowledged", "ping", "elicitation/create", "roots/list"),
)
NOTICE: Final = {"progressToken": "assay-1", "progress": 1, "level": "info", "data": "d", "uri": "data://r"}
HEADERS: Final = (
    *("Location: http://[", "Location: /mcp", "WWW-Authenticate: Bearer", "Mcp-Session-Id: a b"),
    *("Retry-After: 99999999", "Content-Encoding: gzip", "Mcp-Session-Id: x"),
)
STATUSES: Final = ("201 X", "204 X", "302 X", "307 X", "400 X", "403 X", "404 X", "405 X", "500 X", "999 X")


class Mutation:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def value(self, value: Any) -> Any:
        """The value, with other values in some places, and without some of its fields."""
        if self._chance(0.12):
            return self._random.choice(VALUES)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        kept = {name: item for name, item in value.items() if not self._chance(0.05)}
        return {name: self.value(item) if self._chance(0.5) else item for name, item in kept.items()}

    def message(self, request: dict[str, Any]) -> bytes:
        reply: Any = {"jsonrpc": "2.0", "id": request["id"]}
        if self._chance(0.1):
            code = self._random.choice((-32042, -32601, -32602, -32020, 0))
            reply["error"] = self.value({"code": code, "message": "m", "data": {"elicitations": [PAGE]}})
        else:
            is_asking = request["method"] == "tools/call" and self._chance(0.2)
            reply["result"] = self.value(ASKING if is_asking else RESULTS.get(request["method"], {}))
        body = json.dumps([reply] if self._chance(0.05) else self.value(reply)).encode()
        return body[: self._random.randrange(len(body))] if self._chance(0.1) else body

    def notices(self) -> bytes:
        methods = self._random.choices(NOTICES, k=self._random.randrange(3))
        notices = (self.value({"jsonrpc": "2.0", "method": name, "params": NOTICE}) for name in methods)
        return b"".join(b"data: " + json.dumps(notice).encode() + b"\n\n" for notice in notices)

    def response(self, request: dict[str, Any]) -> bytes:
        if request["method"] in ("server/discover", "initialize") and self._chance(0.8):
            agreed = {"protocolVersion": request["params"].get("protocolVersion")}
            opened = {**RESULTS[request["method"]], **agreed}
            reply = {"jsonrpc": "2.0", "id": request["id"], "result": opened}
            return http_response("200 OK", json.dumps(reply).encode())
        body, kind = self.message(request), "application/json"
        if self._chance(0.3):
            body, kind = self.notices() + b"id: 1\nretry: 0\ndata: " + body + b"\n\n", "text/event-stream"
        status = self._random.choice(STATUSES) if self._chance(0.15) else "200 OK"
        extra = f"{self._random.choice(HEADERS)}\r\n" if self._chance(0.15) else ""
        return http_response(status, body, kind, extra)

    def responder(self) -> Responder:
        async def respond(request: HttpRequest, writer: Writer) -> None:
            message = request.message if request.body else {}
            if "id" in message:
                writer.write(self.response(message))
            else:
                writer.write(http_response("405 X" if request.method == "GET" else "202 X"))

        return respond


async def converse(seed: int, revision: str | None) -> bool:
    """Open a client of such a server, and call everything. Returns whether it could be opened."""
    async with raw_http(Mutation(seed).responder()) as server:
        client = Client(
            server.url,
            revision=revision,
            timeout=0.5,
            retry=Retry(deadline=0),
            limits=ClientLimits(close_timeout=0.2),
            elicitation=lambda request: {},
            roots=["/"],
            on_log=lambda message: None,
            on_change=lambda change: None,
        )
        try:
            async with client:
                await _call_all(client)
        except ClientError as error:
            assert str(error)
            return False
        return True


async def _call_all(client: Client) -> None:
    for call in (
        client.tools,
        lambda: client.call_tool("tool", {"a": "x"}, progress=lambda progress: None),
        lambda: client.call_as(int, "tool"),
        client.resources,
        lambda: client.read("data://r"),
        client.prompts,
        lambda: client.prompt("p", a="x"),
        lambda: client.complete("a", "v", prompt="p"),
        client.skills,
        client.ping,
    ):
        try:
            await call()
        except ClientError as error:
            assert str(error)
