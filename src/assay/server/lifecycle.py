"""Starting and stopping a server: its lifespan, its background tasks, and the requests in progress."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from assay.model.limits import Limits
from assay.server.calls.call import Call
from assay.server.calls.current_call import CurrentCall
from assay.server.dispatch.services import Services

from .background import Background
from .lifespan import Dispatch, DispatchBatch, LateStart, Lifespan, LifespanFunction, check_lifespan

if TYPE_CHECKING:
    from assay.server.dispatch.notifier import ChangeNotifier
    from assay.store.port import Store

    from .loop_watch import LoopWatch

F = TypeVar("F", bound=Callable[..., Any])


class Lifecycle:
    """Base of `Server`: `start`, `stop`, `drain` and `background`."""

    limits: Limits
    dispatch: Dispatch
    """Serves a decoded message, for transports."""
    dispatch_batch: DispatchBatch
    _services: Services
    direct_call: Callable[[], Call]
    debug: bool
    watch_loop = False
    """Whether handlers that block the event loop are logged, also without `debug`; `assay serve` sets it."""
    _loop_watch: LoopWatch | None = None
    notifier: ChangeNotifier
    store: Store | None = None
    """What `use_store` has set; without one, everything is kept in memory."""

    def _prepare(self, name: str, lifespan: LifespanFunction | None) -> None:
        check_lifespan(lifespan)
        self._background = Background()
        enter = None if lifespan is None else partial(lifespan, self)
        self._lifespan = Lifespan(name, enter, self._background, self._switch)

    def _serve_with(self, dispatch: Dispatch, dispatch_batch: DispatchBatch) -> None:
        """Set what serves messages once the lifespan has started."""
        self._running = dispatch, dispatch_batch
        late = LateStart(self._lifespan, dispatch, dispatch_batch)
        self._not_running = late.dispatch, late.dispatch_batch
        self._switch(not self._lifespan.is_used)

    def _switch(self, is_running: bool) -> None:
        # Other functions instead of a condition, which every message would check.
        self.dispatch, self.dispatch_batch = self._running if is_running else self._not_running

    @asynccontextmanager
    async def _begin_direct_call(self) -> AsyncIterator[Call]:
        if self._lifespan.is_used:
            await self._lifespan.start()
        call = self.direct_call()
        with CurrentCall(call):
            yield call

    def background(self, function: F) -> F:
        """Register a coroutine function that runs as long as the server serves.

            @server.background
            async def watch() -> None:
                async for path in changes():
                    server.resource_updated(f"file://{path}")

        It is started when serving starts, after the lifespan, and cancelled when the server stops. An
        exception is logged and does not stop the server.
        """
        self._background.add(function)
        return function

    def start(self) -> Awaitable[None]:
        """Start the lifespan, then the background tasks, unless they already run. Transports do this.

        Await the result if the server has a lifespan; `async with server:` does so, and stops it at the end.

        Raises:
            LifespanFailed: when awaited, if the lifespan function fails.
            RuntimeError: the server runs in another event loop.
        """
        self._watch_loop()
        return self._lifespan.start()

    def _watch_loop(self) -> None:
        if not (self.debug or self.watch_loop):
            return
        # Imported here, because few servers are watched.
        from .loop_watch import LoopWatch

        self._loop_watch = self._loop_watch or LoopWatch(self.limits.blocked_loop)
        self._loop_watch.start()

    def _start_background(self) -> None:
        """Start the background tasks with the first session or listen stream, where no transport does it.
        Those of a server with a lifespan start with the first message, after the lifespan."""
        self._watch_loop()
        if not self._lifespan.is_used:
            self._background.start()

    def use_store(self, store: Store | str) -> None:
        """Keep sessions, events, tasks and the state of clients in this store, instead of any other. Call it
        before the server runs.

        Args:
            store: A URL as in `assay.store.open_store`, or a store.

        Raises:
            StoreError: the URL is wrong.
        """
        if isinstance(store, str):
            # Imported here, because few servers name one.
            from assay.store.url import open_store

            store = open_store(store, self.limits)
        if self.store is None:
            self._lifespan.surround(self._connect_store)
        self.store = store

    @asynccontextmanager
    async def _connect_store(self) -> AsyncIterator[None]:
        from assay.server.calls.stored_state import StoredStates

        from .store_link import StoreLink

        assert self.store is not None
        states = self._services.client_states
        async with StoreLink(self.store, self.notifier).connected():
            self._move_tasks()
            if self.store.is_shared:
                states.stored = StoredStates(self.store.state, self.limits)
            try:
                yield
            finally:
                states.stored = None

    def _move_tasks(self) -> None:
        raise NotImplementedError

    async def stop(self) -> None:
        """Stop the background tasks, then exit the lifespan. Call `drain` before, if requests may run."""
        if self._loop_watch is not None:
            self._loop_watch.stop()
        await self._lifespan.stop()

    async def drain(self) -> None:
        """Wait for running requests, up to `limits.drain` seconds; then end the others with an error as their
        answer. For transports that stop."""
        await self._services.running.drain(self.limits.drain)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.drain()
        await self.stop()
