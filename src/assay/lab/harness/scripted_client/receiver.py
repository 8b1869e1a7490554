"""Handling of the messages that the client receives."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.scripted_server.answer import AnswerError
from assay.revisions.revision import Asking, Batching

from .failure import StepFailed
from .transport import Json, PendingCall

if TYPE_CHECKING:
    from .client import ScriptedClient

encode = msgspec.json.encode
CANCELLED = "notifications/cancelled"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class MessageReceiver:
    def __init__(self, client: ScriptedClient) -> None:
        self._client = client
        self._calls: dict[bytes, PendingCall] = {}
        self._answering: dict[bytes, asyncio.Task[None]] = {}

    def expect(self, call: PendingCall) -> None:
        self._calls[encode(call.id)] = call

    def forget(self, call: PendingCall) -> None:
        self._calls.pop(encode(call.id), None)

    @property
    def waiting(self) -> list[PendingCall]:
        """The requests without an answer, oldest first."""
        return [call for call in self._calls.values() if not call.answer.done()]

    def receive(self, body: bytes) -> None:
        """Handle bytes from the server. Invalid JSON is logged: the request that it answers then fails."""
        try:
            value = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._client.say(f"the server sent invalid JSON: {body[:80]!r}")
        batch = isinstance(value, list) and self._client.revision.batching is Batching.ACCEPTED
        for message in value if batch else [value]:
            if isinstance(message, dict):
                self._dispatch(message)
        return None

    def _dispatch(self, message: Json) -> None:
        hook = self._client.saboteur.received if self._client.saboteur else None
        altered = message if hook is None else hook(message, self._client)
        if altered is None:
            return
        if "method" not in altered:
            self._resolve(altered)
        elif "id" not in altered:
            self._notified(str(altered["method"]), _params(altered))
        elif self._client.revision.asking is Asking.BY_REQUEST:
            self._answering[encode(altered["id"])] = self._client.task(self._reply(altered))

    def _resolve(self, message: Json) -> None:
        """Ignores an answer that no request waits for."""
        call = self._calls.get(encode(message.get("id")))
        if call is not None and not call.answer.done():
            call.answer.set_result(message)

    def _notified(self, method: str, params: Json) -> None:
        client = self._client
        if method == CANCELLED:
            task = self._answering.get(encode(params.get("requestId")))
            if task is not None:
                task.cancel()
            return
        meta = params.get("_meta")
        name = meta.get(SUBSCRIPTION_KEY) if isinstance(meta, dict) else None
        subscriptions = [subscription for subscription in client.subscriptions if subscription.id == name]
        if name is not None and not subscriptions and client.behaviour.ignores_unknown_subscriptions:
            return
        if method == ACKNOWLEDGED:
            for subscription in subscriptions:
                subscription.acknowledge()
        if client.behaviour.honours_changes:
            client.cache.invalidate(method, params)
        client.notifications.put(method, params)

    async def _reply(self, message: Json) -> None:
        method, params = str(message["method"]), _params(message)
        await self._report(method, params, 1)
        try:
            answer: Json = {"result": await self._client.answers.answer(method, params)}
        except AnswerError as refused:
            answer = {"error": refused.error}
        else:
            await self._report(method, params, 2)
        with suppress(StepFailed):
            await self._client.send({"jsonrpc": "2.0", "id": message["id"], **answer})

    async def _report(self, method: str, params: Json, done: int) -> None:
        """Send progress if the server's request has a progress token."""
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if token is not None and method != "ping" and self._client.behaviour.reports_progress:
            progress = {"progressToken": token, "progress": done, "total": 2}
            await self._client.notify("notifications/progress", progress)


def _params(message: Json) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}
