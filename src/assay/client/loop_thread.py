"""An event loop in a thread, for callers without one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from assay.model.client_error import ClientClosed

T = TypeVar("T")


class LoopThread:
    """Runs from its creation to `stop`. What is running then is cancelled and waited for."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        """No work is added after the order to stop, so none waits for ever."""
        self._is_stopped = False
        # The thread must not refer to this object, nor to the client: both end when the user drops them.
        self._thread = threading.Thread(target=_serve, args=(self._loop,), name="assay-client", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """
        Raises:
            ClientClosed: the loop was stopped.
            RuntimeError: called from the loop itself, which would wait for itself.
        """
        try:
            self.refuse_own_thread()
            with self._lock:
                if self._is_stopped:
                    raise ClientClosed
                future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except BaseException:
            work.close()
            raise
        try:
            return future.result()
        except CancelledError:
            raise ClientClosed from None
        except BaseException:
            future.cancel()  # Ctrl-C ends the wait, and with it the call
            raise

    def refuse_own_thread(self) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError("a handler of a SyncClient cannot call it: use Client, or another thread")

    def stop(self) -> None:
        """Idempotent, and from any thread."""
        with self._lock:
            if not self._is_stopped:
                self._is_stopped = True
                self._loop.call_soon_threadsafe(self._loop.stop)
        if threading.current_thread() is not self._thread:
            self._thread.join()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(_cancel_all())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())  # names were resolved in its threads
        loop.close()


async def _cancel_all() -> None:
    """An interrupted program may stop the loop before the client is closed: its process ends here then."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
