"""What the client makes of the messages that it is sent."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.scripted_server.answer import Refused
from assay.revisions.revision import Asking, Batching

from .failure import Failed
from .transport import Call, Json

if TYPE_CHECKING:
    from .client import ScriptedClient

encode = msgspec.json.encode
CANCELLED = "notifications/cancelled"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class MessageReceiver:
    def __init__(self, client: ScriptedClient) -> None:
        self._client = client
        self._calls: dict[bytes, Call] = {}
        self._answering: dict[bytes, asyncio.Task[None]] = {}

    def expect(self, call: Call) -> None:
        self._calls[encode(call.id)] = call

    def forget(self, call: Call) -> None:
        self._calls.pop(encode(call.id), None)

    @property
    def waiting(self) -> list[Call]:
        """The requests that have no answer yet, the latest last."""
        return [call for call in self._calls.values() if not call.answer.done()]

    def hear(self, body: bytes) -> None:
        """Whatever the server sent. What is no message is left alone: a request it was to answer fails."""
        try:
            value = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._client.say(f"the server sent what is no JSON: {body[:80]!r}")
        batch = isinstance(value, list) and self._client.revision.batching is Batching.ACCEPTED
        for one in value if batch else [value]:
            if isinstance(one, dict):
                self._take(one)
        return None

    def _take(self, message: Json) -> None:
        """The one place where a fault meets what the client hears."""
        hook = self._client.saboteur.hearing if self._client.saboteur else None
        heard = message if hook is None else hook(message, self._client)
        if heard is None:
            return
        if "method" not in heard:
            self._settle(heard)
        elif "id" not in heard:
            self._note(str(heard["method"]), _params(heard))
        elif self._client.revision.asking is Asking.BY_REQUEST:
            self._answering[encode(heard["id"])] = self._client.task(self._reply(heard))

    def _settle(self, message: Json) -> None:
        """An answer to a request that still waits for it; others are nobody's."""
        call = self._calls.get(encode(message.get("id")))
        if call is not None and not call.answer.done():
            call.answer.set_result(message)

    def _note(self, method: str, params: Json) -> None:
        client = self._client
        if method == CANCELLED:
            task = self._answering.get(encode(params.get("requestId")))
            if task is not None:
                task.cancel()
            return
        meta = params.get("_meta")
        name = meta.get(SUBSCRIPTION_KEY) if isinstance(meta, dict) else None
        mine = [one for one in client.subscriptions if one.id == name]
        if name is not None and not mine and client.behaviour.minds_subscriptions:
            return
        if method == ACKNOWLEDGED:
            for one in mine:
                one.acknowledge()
        if client.behaviour.honours_changes:
            client.cache.change(method, params)
        client.heard.put(method, params)

    async def _reply(self, message: Json) -> None:
        method, params = str(message["method"]), _params(message)
        await self._report(method, params, 1)
        try:
            answer: Json = {"result": await self._client.answers.answer(method, params)}
        except Refused as refused:
            answer = {"error": refused.error}
        else:
            await self._report(method, params, 2)
        with suppress(Failed):
            await self._client.send({"jsonrpc": "2.0", "id": message["id"], **answer})

    async def _report(self, method: str, params: Json, done: int) -> None:
        """Tell a server that wants to know how far an answer is."""
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if token is not None and method != "ping" and self._client.behaviour.reports_progress:
            about = {"progressToken": token, "progress": done, "total": 2}
            await self._client.notify("notifications/progress", about)


def _params(message: Json) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}
