"""What a server sets up once when it starts and releases when it stops: `Server(lifespan=...)`."""

from __future__ import annotations

import asyncio
import inspect
import logging
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from threading import Lock
from typing import Any, Final

from assay.model.error import (
    INTERNAL_ERROR,
    LifespanFailed,
    MalformedMessage,
    RegistrationError,
    RpcError,
    StoreError,
)
from assay.model.jsonrpc import Envelope, Outcome
from assay.model.visible import visible, visible_record
from assay.protocol.codec import error_reply, known_id
from assay.protocol.scope import Scope, Send
from assay.server.dispatch.failure import log_failure

from .background import Background

LifespanFunction = Callable[[Any], AbstractAsyncContextManager[Any]]
Dispatch = Callable[[Envelope, Send | None, Scope], Awaitable[Outcome | None]]
DispatchBatch = Callable[[list[Envelope | MalformedMessage], Send | None, Scope], Awaitable[list[Outcome]]]

logger = logging.getLogger("assay")
logger.addFilter(visible_record)

FIX: Final = "decorate an async generator function of the server with @contextlib.asynccontextmanager"
MOUNTED: Final = ("http", "websocket")
"""Transports of applications that a host may mount without starting them."""


def check_lifespan(function: Any) -> None:
    """
    Raises:
        RegistrationError: the value cannot be the lifespan of a server.
    """
    if function is None:
        return
    problem = _problem(function)
    if problem is not None:
        raise RegistrationError(f"lifespan {getattr(function, '__name__', repr(function))} {problem}")


def _problem(function: Any) -> str | None:
    if not callable(function) or hasattr(function, "__aenter__"):
        return "is not a function: pass the function itself, without calling it"
    if inspect.isasyncgenfunction(function) or inspect.iscoroutinefunction(function):
        return f"is not a context manager: {FIX}"
    inner = inspect.unwrap(function)
    if inspect.isgeneratorfunction(inner):
        return f"is not asynchronous: {FIX}"
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return "does not take the server as its only argument: def lifespan(server)"
    except ValueError:
        pass  # a callable without a signature, written in C
    return None


class Lifespan:
    """The lifespan of one server: started once, by whatever needs it first, and again after it was stopped.

    Args:
        name: The server's name, for messages.
        enter: Returns the context manager; None if the server has no lifespan.
        background: Tasks that run inside the lifespan.
        switch: Called with True once the lifespan has started, and with False when it ends.
    """

    def __init__(
        self,
        name: str,
        enter: Callable[[], AbstractAsyncContextManager[Any]] | None,
        background: Background,
        switch: Callable[[bool], None],
    ) -> None:
        self.name = name
        self._enter = enter
        self._has_function = enter is not None
        self._background = background
        self._switch = switch
        self._run: _Run | None = None
        self._lock = Lock()

    @property
    def is_used(self) -> bool:
        return self._enter is not None

    def surround(self, outer: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        """Enter a context manager before the lifespan function's, and exit it after that. Call it before the
        start."""
        inner = self._enter

        @asynccontextmanager
        async def enter() -> AsyncIterator[Any]:
            async with outer():
                if inner is None:
                    yield None
                else:
                    async with inner() as value:
                        yield value

        self._enter = enter
        self._switch(False)

    def start(self) -> Awaitable[None]:
        """Start the lifespan, then the background tasks, unless they already run. Await the result to know
        that they do.

        Raises:
            LifespanFailed: when awaited, if the lifespan function fails.
            RuntimeError: the server runs in another event loop.
        """
        if self._enter is None:
            self._background.start()
            return _nothing_to_await()
        loop = asyncio.get_running_loop()
        with self._lock:
            run = self._run
            if run is None or run.is_over:
                run = self._run = _Run(self, loop)
        run.check_caller(loop)
        return asyncio.shield(run.started)

    async def stop(self) -> None:
        """Stop the background tasks, then exit the lifespan. Idempotent."""
        with self._lock:
            run, self._run = self._run, None
        if run is None or run.is_over:
            return await self._background.stop()
        return await run.stop()

    def value(self, loop: asyncio.AbstractEventLoop) -> Any:
        """What the lifespan function has yielded.

        Raises:
            RuntimeError: the server has no lifespan, or it has not been started in this event loop.
        """
        run = self._run
        if not self._has_function:
            raise RuntimeError(f"server {self.name} has no lifespan: pass one with Server(lifespan=...)")
        if run is None or not run.has_value:
            raise RuntimeError(f"the lifespan of server {self.name} has ended")
        if run.loop is not loop:
            raise RuntimeError(self.elsewhere)
        return run.value

    @property
    def elsewhere(self) -> str:
        return (
            f"the lifespan of server {self.name} runs in another event loop: stop the server there first, or "
            "create a server for each event loop"
        )

    def enter(self) -> AbstractAsyncContextManager[Any]:
        assert self._enter is not None
        return self._enter()

    def begin(self) -> None:
        self._background.start()
        self._switch(True)

    async def end(self) -> None:
        self._switch(False)
        await self._background.stop()


class _Run:
    """One run of a lifespan. A separate task enters and exits it, because task groups and timeouts must be
    exited by the task that entered them."""

    def __init__(self, lifespan: Lifespan, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.has_value = False
        self.value: Any = None
        self.started: asyncio.Future[None] = loop.create_future()
        self._lifespan = lifespan
        self._stopping = asyncio.Event()
        self._task = loop.create_task(self._live())

    @property
    def is_over(self) -> bool:
        return self._task.done() or self.loop.is_closed()

    def check_caller(self, loop: asyncio.AbstractEventLoop) -> None:
        if self.loop is not loop:
            raise RuntimeError(self._lifespan.elsewhere)
        if asyncio.current_task() is self._task and not self.started.done():
            raise RuntimeError(
                f"the lifespan of server {self._lifespan.name} uses the server before it has yielded"
            )

    async def stop(self) -> None:
        if self.loop is not asyncio.get_running_loop():
            raise RuntimeError(self._lifespan.elsewhere)
        self._stopping.set()
        if not self.started.done():
            self._task.cancel()
        await asyncio.wait([self._task])

    async def _live(self) -> None:
        try:
            async with self._lifespan.enter() as self.value:
                self.has_value = True
                await self._serve()
        except asyncio.CancelledError:
            self._fail(LifespanFailed(f"server {self._lifespan.name} was stopped while its lifespan started"))
            raise
        except BaseException as error:
            self._on_error(error)
        finally:
            self.has_value = False
            self._fail(LifespanFailed(f"the lifespan of server {self._lifespan.name} did not yield"))

    async def _serve(self) -> None:
        self._lifespan.begin()
        self.started.set_result(None)
        try:
            await self._stopping.wait()
        finally:
            await self._lifespan.end()

    def _on_error(self, error: BaseException) -> None:
        name = self._lifespan.name
        if self.started.done():
            return log_failure(f"the end of the lifespan of server {name}", error)
        logger.debug("the lifespan of server %s failed", name, exc_info=error)
        is_store = isinstance(error, StoreError)
        text = str(error) if is_store else f"the lifespan of server {name} failed: {_described(error)}"
        failure = LifespanFailed(text)
        failure.__cause__ = error
        return self._fail(failure)

    def _fail(self, failure: LifespanFailed) -> None:
        if not self.started.done():
            self.started.set_exception(failure)
            self.started.exception()  # retrieved: there may be nothing that waits for it


def _described(error: BaseException) -> str:
    """Type and text of an exception, and the line that raised it."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return visible(text + where)


def _nothing_to_await() -> Awaitable[None]:
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


class LateStart:
    """Serves the first messages of a server whose lifespan has not been started by a transport: starts it.

    Once it has started, messages do not come here any more: see `Server._switch`.
    """

    def __init__(self, lifespan: Lifespan, dispatch: Dispatch, dispatch_batch: DispatchBatch) -> None:
        self._lifespan = lifespan
        self._dispatch = dispatch
        self._dispatch_batch = dispatch_batch
        self._warned = False

    async def dispatch(self, message: Envelope, send: Send | None, scope: Scope) -> Outcome | None:
        failure = await self._start(scope)
        if failure is None:
            return await self._dispatch(message, send, scope)
        return refused(message, failure)

    async def dispatch_batch(
        self, members: list[Envelope | MalformedMessage], send: Send | None, scope: Scope
    ) -> list[Outcome]:
        failure = await self._start(scope)
        if failure is None:
            return await self._dispatch_batch(members, send, scope)
        outcomes = [refused(member, failure) for member in members]
        return [outcome for outcome in outcomes if outcome is not None]

    async def _start(self, scope: Scope) -> RpcError | None:
        if scope.transport in MOUNTED and not self._warned:
            self._warned = True
            logger.warning(
                "the first request starts the lifespan of server %s, because its host did not, and nothing "
                "will stop it: where app = server.asgi(), pass lifespan=app.lifespan to FastAPI or Starlette",
                self._lifespan.name,
            )
        try:
            await self._lifespan.start()
        except LifespanFailed as error:
            log_failure("the first request", error)
        except RuntimeError as error:
            logger.error("%s", error)
        else:
            return None
        return RpcError(INTERNAL_ERROR, "the server could not start")


def refused(message: Envelope | MalformedMessage, failure: RpcError) -> Outcome | None:
    """The answer to a message that cannot be served; none if it is not a request."""
    if isinstance(message, MalformedMessage):
        return error_reply(message, message.request_id)
    request_id = known_id(message)
    is_request = isinstance(message.method, str) and request_id is not None
    return error_reply(failure, request_id) if is_request else None
