"""Notifications of the subject, kept until a scenario asks for them. Each is handed out once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.trace.message import Message

KEPT: Final = 1000
"""Notifications that wait to be asked for; older ones are only in the trace."""


class _Wanted(Struct):
    method: str
    params: Mapping[str, Any]
    found: asyncio.Future[Message]

    def fits(self, message: Message) -> bool:
        same = all(message.params.get(key) == value for key, value in self.params.items())
        return message.method == self.method and same


class Notifications:
    def __init__(self) -> None:
        self._heard: list[Message] = []
        self._wanted: list[_Wanted] = []

    def take(self, message: Message) -> None:
        for wanted in self._wanted:
            if not wanted.found.done() and wanted.fits(message):
                wanted.found.set_result(message)
                return
        self._heard = [*self._heard[1 - KEPT :], message]

    async def next(self, method: str, params: Mapping[str, Any]) -> Message:
        """The oldest of that method, with these parameters among others, that nobody asked for yet."""
        wanted = _Wanted(method, params, asyncio.get_running_loop().create_future())
        for message in self._heard:
            if wanted.fits(message):
                self._heard.remove(message)
                return message
        self._wanted.append(wanted)
        try:
            return await wanted.found
        finally:
            self._wanted.remove(wanted)
