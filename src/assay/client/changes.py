"""Changes of a server as an asynchronous iterator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from types import TracebackType
from typing import Any, Final, NamedTuple, Protocol, Self

from assay.model.client_error import ClientClosed, ClientError, ConnectionFailed, HttpFailure, Timeout
from assay.model.client_limits import ClientLimits
from assay.model.notice import Change

from .change_hub import ChangeHub, ChangeStream
from .listening import Interest, announced
from .log import client_logger

ATTEMPTS: Final = 8
"""Streams in a row that may end within `LASTING` seconds. The second is opened at once, later ones after a
pause."""
LASTING: Final = 5.0
LONGEST_PAUSE: Final = 30.0
OF_LISTS: Final = {"tools": Change("tools"), "prompts": Change("prompts"), "resources": Change("resources")}


class Announcer(Protocol):
    """A session, or several."""

    @property
    def capabilities(self) -> dict[str, Any]: ...

    async def listen(self, interest: Interest, stream: ChangeStream) -> None: ...


class Source(NamedTuple):
    """The client, as far as its iterators need it."""

    hub: ChangeHub
    limits: ClientLimits
    timeout: float | None
    usable_session: Callable[[], Awaitable[Announcer]]
    """The session in use, opened again if it was lost; raises a `ClientError` if that is not possible."""


class Changes:
    """Changes of a server, from `Client.listen` and `Client.subscribe`.

        async with client.listen("tools") as changes:
            async for change in changes:
                ...

    `async with` returns when the server has confirmed that it announces the changes, and ends that when it is
    left. A plain `async for` opens the stream at its beginning; `close` it, or let go of it.

    Equal changes that wait are one change. If more than `limits.notices` different ones wait, the oldest is
    dropped, with a warning in the log. If the connection was lost, all that the stream asked for is reported
    once when it is open again, because some changes may have been missed.
    """

    def __init__(self, source: Source, interest: Interest) -> None:
        self._source = source
        self._interest = interest
        self._waiting: dict[Change, None] = {}
        self._arrived = asyncio.Event()
        self._confirmed: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._failure: ClientError | None = None
        self._is_closed = False
        self._has_dropped = False

    async def open(self) -> Self:
        """Ask the server to announce the changes; `async with` does this.

        Raises:
            ClientError: the server does not announce them, or cannot be reached.
        """
        if self._task is None:
            loop = asyncio.get_running_loop()
            self._confirmed = loop.create_future()
            stream = _WeakStream(self, loop.create_future())
            self._task = loop.create_task(_keep_listening(stream, self._source, self._interest))
            self._source.hub.spawn(self._task)
        assert self._confirmed is not None
        timeout = self._source.timeout
        both: list[asyncio.Future[None]] = [self._confirmed, self._task]
        await asyncio.wait(both, timeout=timeout, return_when="FIRST_COMPLETED")
        if self._failure is not None:
            raise self._failure
        if not self._confirmed.done() and not self._task.done():
            await self.close()
            raise Timeout(f"the server did not confirm the subscription in {timeout:g} s")
        return self

    async def close(self) -> None:
        """End the stream. Changes that wait are dropped. Idempotent."""
        self._is_closed = True
        self._waiting.clear()
        self._arrived.set()
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            await asyncio.wait([self._task])

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        """
        Raises:
            StopAsyncIteration: this stream, or the client, was closed.
            ClientError: the connection was lost and cannot be opened again, or the server refuses.
        """
        if self._task is None and not self._is_closed:
            await self.open()
        while not self._waiting:
            if self._is_closed:
                raise StopAsyncIteration
            if self._failure is not None:
                raise self._failure
            self._arrived.clear()
            await self._arrived.wait()
        change = next(iter(self._waiting))
        del self._waiting[change]
        return change

    def __del__(self) -> None:
        task = self._task
        if task is not None and not task.done() and not task.get_loop().is_closed():
            task.get_loop().call_soon_threadsafe(task.cancel)

    # What the task calls.

    def _post(self, change: Change) -> None:
        if change in self._waiting or not _concerns(change, self._interest):
            return
        if len(self._waiting) >= self._source.limits.notices:
            del self._waiting[next(iter(self._waiting))]
            if not self._has_dropped:
                self._has_dropped = True
                client_logger().warning("changes are read more slowly than they arrive: some are dropped")
        self._waiting[change] = None
        self._arrived.set()

    def _confirm(self, interest: Interest) -> None:
        """The server announces the changes from now on."""
        if not any(self._interest):
            self._interest = interest
        if self._confirmed is not None and not self._confirmed.done():
            self._confirmed.set_result(None)
            return
        for kind in sorted(self._interest.kinds):
            self._post(OF_LISTS[kind])
        for uri in sorted(self._interest.uris):
            self._post(Change("resource", uri))

    def _end(self, failure: ClientError | None) -> None:
        self._failure = failure
        self._is_closed = self._is_closed or failure is None
        self._arrived.set()


class _WeakStream:
    """Does not keep the iterator alive: a program that lets go of it, ends it."""

    def __init__(self, changes: Changes, refused: asyncio.Future[str]) -> None:
        import weakref

        self._changes = weakref.ref(changes)
        self.expected = Interest()
        self.refused = refused
        """What the server does not announce."""
        self.is_confirmed = False

    def post(self, change: Change) -> None:
        if (changes := self._changes()) is not None:
            changes._post(change)

    def acknowledge(self, kinds: Collection[str], uris: Collection[str]) -> None:
        missing = sorted((self.expected.kinds - {*kinds}) | (self.expected.uris - {*uris}))
        if missing and not self.refused.done():
            self.refused.set_result(", ".join(missing))
        elif (changes := self._changes()) is not None:
            self.is_confirmed = True
            changes._confirm(self.expected)

    def end(self, failure: ClientError | None) -> None:
        if (changes := self._changes()) is not None:
            changes._end(failure)


async def _keep_listening(stream: _WeakStream, source: Source, interest: Interest) -> None:
    try:
        await _listen_repeatedly(stream, source, interest)
    except ClientClosed:
        stream.end(None)
    except ClientError as error:
        stream.end(error)
    except asyncio.CancelledError:
        stream.end(None)
        raise


async def _listen_repeatedly(stream: _WeakStream, source: Source, interest: Interest) -> None:
    """Listen, and again if the connection was lost."""
    failures, clock = 0, asyncio.get_running_loop().time
    while True:
        if failures > 1:
            await asyncio.sleep(min(2.0 ** (failures - 2), LONGEST_PAUSE))
        session = await source.usable_session()
        stream.expected = _supported(session, interest)
        start, reason = clock(), ClientError("the server ended the stream of changes")
        try:
            await _listen_once(session, stream)
        except (ConnectionFailed, HttpFailure) as error:
            client_logger().debug("a stream of changes ended: %s", error)
            reason = error
        failures = 0 if clock() - start >= LASTING else failures + 1
        if failures >= ATTEMPTS or not stream.is_confirmed:
            raise reason


async def _listen_once(session: Announcer, stream: _WeakStream) -> None:
    listening = asyncio.ensure_future(session.listen(stream.expected, stream))
    try:
        both: list[asyncio.Future[Any]] = [listening, stream.refused]
        await asyncio.wait(both, return_when="FIRST_COMPLETED")
        if stream.refused.done():
            raise _not_announced(stream.refused.result())
        await listening
    finally:
        listening.cancel()
        await asyncio.wait([listening])  # it ends its subscriptions


def _supported(session: Announcer, interest: Interest) -> Interest:
    supported = announced(session.capabilities, interest)
    missing = sorted((interest.kinds - supported.kinds) | (interest.uris - supported.uris))
    if missing or not any(supported):
        raise _not_announced(", ".join(missing) or "its lists")
    return supported


def _not_announced(names: str) -> ClientError:
    return ClientError(f"the server does not announce changes of {names}")


def _concerns(change: Change, interest: Interest) -> bool:
    if change.uri is None:
        return change.kind in interest.kinds
    # A change may be that of a part of a resource (server/resources).
    return change.uri in interest.uris or any(
        change.uri.startswith(f"{uri.rstrip('/')}/") for uri in interest.uris
    )
