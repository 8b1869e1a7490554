"""Whether a client can reach its server, visible to the user."""

from __future__ import annotations

import asyncio
from enum import Enum

from msgspec import Struct

from assay.model.client_error import ClientError

from .callback import Callback, CallbackQueue

QUEUED: int = 100
"""Changes that wait for a callback which is a coroutine function."""


class ClientState(Enum):
    CLOSED = "closed"
    """Not opened yet, or closed by the user."""
    CONNECTING = "connecting"
    OPEN = "open"
    LOST = "lost"
    """The connection ended, or the server does not answer: the next call connects again."""
    RECONNECTING = "reconnecting"
    FAILED = "failed"
    """It could not be opened, or may not be opened again: close it."""


class StateChange(Struct, frozen=True):
    """`error` is the reason, if the change is due to a failure."""

    state: ClientState
    previous: ClientState
    error: ClientError | None = None


class States:
    """The state of one client, and its callback."""

    def __init__(self, on_change: Callback | None) -> None:
        self.current = ClientState.CLOSED
        self._on_change = on_change
        self._queue = CallbackQueue(QUEUED)

    def enter(self, state: ClientState, error: ClientError | None = None) -> None:
        previous, self.current = self.current, state
        if state is not previous and self._on_change is not None:
            self._queue.post(self._on_change, StateChange(state, previous, error))

    async def close(self, timeout: float) -> None:
        """The last change. A callback that takes longer is cancelled."""
        self.enter(ClientState.CLOSED)
        try:
            async with asyncio.timeout(timeout):
                await self._queue.flush()
        except TimeoutError:
            await self._queue.close()
