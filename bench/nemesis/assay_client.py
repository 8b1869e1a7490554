"""Assay's own client as a client of the kill test."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from contextvars import ContextVar
from typing import Any, Final, Self

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
from assay.revisions.revision import Revision
from assay.transport.client.http import HttpLink

from .history import Recorder

OPENINGS: Final = 20
OnEvent = Callable[[dict[str, Any]], None]
CALL: ContextVar[tuple[Recorder, str] | None] = ContextVar("call", default=None)
resume = HttpLink._get


async def noted_resume(self: HttpLink, revision: Revision, last: str, request_id: object, *more: Any) -> Any:
    """Notes when the client asks for the rest of a stream: no interface shows it."""
    current = CALL.get()
    if current is not None and request_id is not None:
        current[0].note("reconnect", call=current[1])
    return await resume(self, revision, last, request_id, *more)


setattr(HttpLink, "_get", noted_resume)  # noqa: B010  # mypy refuses an assignment


class AssayCaller:
    def __init__(
        self, url: str, recorder: Recorder, *, handshake: bool, on_event: OnEvent | None = None
    ) -> None:
        self._recorder = recorder
        self._on_event = on_event
        self._url = url
        self._revision = HANDSHAKE[-1].date if handshake else None
        self._client = self._new()
        self._stack = AsyncExitStack()

    def _new(self) -> Client:
        return Client(
            self._url,
            revision=self._revision,
            on_log=self._on_log,
            log_level="debug",
            elicitation=self._answer,
            retry=Retry(opening=20.0),
            timeout=30.0,
        )

    async def __aenter__(self) -> Self:
        for _ in range(OPENINGS):
            with suppress(ConnectionFailed):  # a worker was killed while it served the handshake
                await self._stack.enter_async_context(self._client)
                return self
            self._client = self._new()
        raise ConnectionFailed(f"no session after {OPENINGS} attempts")

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
        CALL.set((self._recorder, str(arguments["call"])) if "call" in arguments else None)
        try:
            result = await self._client.call_tool(tool, arguments, idempotent=tool == "read")
        except Timeout as error:
            self._recorder.note("broke", text=str(error))  # it opens another session
            return "error", False, f"Timeout: {error}"
        except ClientError as error:
            return (
                "error",
                not isinstance(error, ConnectionFailed),
                f"{type(error).__name__}: {error}",
            )
        return "ok", True, result.text
