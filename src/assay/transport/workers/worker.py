"""The worker's side: what it learns from its parent, and what it reports."""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

from .channel import Channel, ChannelClosed
from .command import channel_descriptor

BEAT: Final = 1.0
"""Seconds between two signs of life. They come from the event loop, so one that is blocked sends none."""
PATIENCE: Final = 30.0
"""Seconds that the parent may take to send the setting; it sends it at once."""
REPLY: Final = 5.0
"""Seconds that the parent may take to answer a question."""


class Serving(Protocol):
    """What a worker needs of the server that runs in it."""

    @property
    def listen_on(self) -> Callable[[Sequence[socket.socket]], Awaitable[None]]: ...

    @property
    def stop(self) -> Callable[[], None]: ...


class Worker:
    """This process, if it is a worker."""

    def __init__(self, channel: Channel, setting: dict[str, Any]) -> None:
        self._channel = channel
        self.key = bytes.fromhex(setting["key"])
        """What all workers sign with."""
        self.store: str = setting["store"]
        """The URL of the store that they share, for a server that names none."""
        self.count: int = setting["workers"]
        self._sockets = [socket.socket(fileno=number) for number in setting["sockets"]]
        for each in (channel.socket, *self._sockets):
            each.set_inheritable(False)  # commands of the user's handlers must not hold them
        self.own_socket = self._sockets[setting["listen"][0]]
        self.is_first: bool = setting["first"]
        """It announces the server."""
        self.measure: Callable[[], dict[str, Any]] | None = None
        """Returns the metrics of this process, to be sent with each sign of life."""
        self._asked = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._pending: asyncio.Task[None] | None = None

    def attend(self, serving: Serving, drain: float) -> Callable[[], None]:
        """Report that the server serves, and follow the parent until the returned function is called."""
        loop = asyncio.get_running_loop()
        self._serving = serving
        self._loop = loop
        loop.add_reader(self._channel.socket, self._on_readable)
        self._channel.send({"ready": drain})
        self._timer = loop.call_later(BEAT, self._beat)

        def leave() -> None:
            self._timer.cancel()
            loop.remove_reader(self._channel.socket)
            self._report()

        return leave

    def close(self) -> None:
        self.close_sockets()
        self._channel.close()

    def close_sockets(self) -> None:
        """The server has begun to stop: what the kernel queues from now on is for the other workers."""
        for each in self._sockets:
            each.close()
        self._sockets.clear()

    def _beat(self) -> None:
        self._timer = self._loop.call_later(BEAT, self._beat)
        self._report()

    def _report(self) -> None:
        self._channel.send({"beat": 1} if self.measure is None else {"numbers": self.measure()})

    def _on_readable(self) -> None:
        try:
            messages = self._channel.receive()
        except ChannelClosed:
            # The parent was killed: nothing would watch this process, or end it.
            self._loop.remove_reader(self._channel.socket)
            self._serving.stop()
            return
        self._channel.flush()
        for message in messages:
            if "listen" in message:
                self._listen(message["listen"])
            if "totals" in message:
                answer = self._answers.pop(message["totals"].pop("ask"), None)
                if answer is not None and not answer.done():
                    answer.set_result(message["totals"])

    def _listen(self, indices: list[int]) -> None:
        before = self._pending

        async def change() -> None:
            if before is not None:
                await before
            if self._sockets:
                await self._serving.listen_on([self._sockets[index] for index in indices])

        self._pending = self._loop.create_task(change())

    async def totals(self) -> dict[str, Any]:
        """The metrics of all workers.

        Raises:
            TimeoutError: the parent does not answer.
        """
        self._asked += 1
        number = self._asked
        answer: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._answers[number] = answer
        self._report()
        self._channel.send({"ask": number})
        try:
            async with asyncio.timeout(REPLY):
                return await answer
        finally:
            self._answers.pop(number, None)


def joined() -> Worker | None:
    """This process as a worker; None if it was not started as one."""
    descriptor = channel_descriptor()
    if descriptor is None:
        return None
    try:
        channel = Channel(socket.socket(fileno=descriptor))
    except OSError:
        return None  # the variable comes from elsewhere
    with suppress(ChannelClosed):
        if select.select([channel.socket], [], [], PATIENCE)[0]:
            for message in channel.receive():
                return Worker(channel, message["setting"])
    raise SystemExit("the parent of this worker has ended")
