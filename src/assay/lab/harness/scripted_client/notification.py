"""The notifications that the client received. `wait_for` returns each of them once."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

from .failure import StepFailed

Json = dict[str, Any]


class ReceivedNotifications:
    def __init__(self) -> None:
        self._by_method: defaultdict[str, asyncio.Queue[Json]] = defaultdict(asyncio.Queue)

    def put(self, method: str, params: Json) -> None:
        self._by_method[method].put_nowait(params)

    async def wait_for(self, method: str, seconds: float) -> Json:
        """
        Raises:
            StepFailed: the notification did not arrive in time.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self._by_method[method].get()
        except TimeoutError:
            raise StepFailed(f"no {method} within {seconds:g} s") from None
