"""Starts and stops an ASGI application in the role of an ASGI server: by the lifespan protocol."""

from __future__ import annotations

import asyncio
from typing import Final

from assay.protocol.http.asgi import Application, Message

EVENTS: Final = ("lifespan.startup", "lifespan.shutdown")


class Lifespan:
    """The application of one event loop, from its start to its end.

    One task runs both, so that what the application opens is also closed there.
    """

    def __init__(self, app: Application, loop: asyncio.AbstractEventLoop) -> None:
        self.app = app
        self.loop = loop
        self._events: asyncio.Queue[Message] = asyncio.Queue()
        self._answers = {event: loop.create_future() for event in EVENTS}
        self._task = loop.create_task(self._run())
        self._events.put_nowait({"type": EVENTS[0]})

    async def startup(self) -> None:
        """Wait until the application has started.

        Raises:
            RuntimeError: it has failed to.
        """
        await asyncio.shield(self._answers[EVENTS[0]])

    async def shutdown(self) -> None:
        self._events.put_nowait({"type": EVENTS[1]})
        await asyncio.shield(self._answers[EVENTS[1]])
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": {}}
        failure: BaseException | None = None
        try:
            await self.app(scope, self._events.get, self._send)
        except Exception as error:
            failure = error
        finally:
            self._settle(failure)

    def _settle(self, failure: BaseException | None) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(failure or RuntimeError("the application has ended"))
                answer.exception()  # retrieved: a host may stop without waiting for it

    async def _send(self, message: Message) -> None:
        event, _, outcome = message["type"].rpartition(".")
        if outcome == "failed":
            self._answers[event].set_exception(RuntimeError(message.get("message", "")))
            self._answers[event].exception()
        else:
            self._answers[event].set_result(None)
