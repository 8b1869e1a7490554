"""Assay's own client as a client of the kill test."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Self

from assay import (
    Client,
    ClientError,
    ConnectionFailed,
    ElicitationRequest,
    Elicited,
    LogMessage,
    Retry,
    Timeout,
)
from assay.revisions.registry import HANDSHAKE

from .history import Recorder

OnEvent = Callable[[dict[str, Any]], None]


class AssayCaller:
    def __init__(
        self, url: str, recorder: Recorder, *, handshake: bool, on_event: OnEvent | None = None
    ) -> None:
        self._recorder = recorder
        self._on_event = on_event
        self._client = Client(
            url,
            revision=HANDSHAKE[-1].date if handshake else None,
            on_log=self._on_log,
            log_level="debug",
            elicitation=self._answer,
            retry=Retry(opening=20.0),
            timeout=30.0,
        )
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._client)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def _on_log(self, message: LogMessage) -> None:
        data = message.data
        self._recorder.note("event", call=data["call"], number=data["number"])
        if self._on_event is not None:
            self._on_event(data)

    async def _answer(self, request: ElicitationRequest) -> Elicited[dict[str, Any]]:
        call, value = request.message.split()
        self._recorder.note("question", call=call, value=value)
        return Elicited("accept", {"sure": True})

    async def call(self, tool: str, arguments: dict[str, object]) -> tuple[str, bool, str]:
        try:
            result = await self._client.call_tool(tool, arguments, idempotent=tool == "read")
        except ClientError as error:
            return (
                "error",
                not isinstance(error, ConnectionFailed | Timeout),
                f"{type(error).__name__}: {error}",
            )
        return "ok", True, result.text
