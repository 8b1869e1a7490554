"""Notifications about changes, to open sessions and listen streams: at most one of each per loop turn."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from assay.model.jsonrpc import Notification
from assay.protocol.codec import encode
from assay.protocol.session import Session


class Listener(Protocol):
    """An open `subscriptions/listen` stream."""

    @property
    def kinds(self) -> frozenset[str | None]: ...

    @property
    def uris(self) -> frozenset[str | None]: ...

    @property
    def topics(self) -> Mapping[str, frozenset[str]]: ...

    def notify(self, method: str, params: dict[str, Any], /) -> None: ...

    def end(self) -> None: ...


Forward = Callable[[Iterable[str], Iterable[str]], None]
"""Passes changed lists and the URIs of changed resources on."""


class ChangeNotifier:
    def __init__(self, has_feature: Callable[[str], bool]) -> None:
        self._has_feature = has_feature
        """Whether a feature such as `tools.listChanged` is declared."""
        self._sessions: set[Session] = set()
        self.listeners: set[Listener] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        self._changed: dict[str, None] = {}
        self._updated: dict[str, None] = {}
        self._scheduled = False
        self._forwards: list[Forward] = []
        """Called with the changes of this process, once for each."""

    def __len__(self) -> int:
        return len(self._sessions)

    def join(self, session: Session) -> None:
        self._remember_loop()
        self._sessions.add(session)

    def leave(self, session: Session) -> None:
        self._sessions.discard(session)

    def add_listener(self, listener: Listener) -> None:
        self._remember_loop()
        self.listeners.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        self.listeners.discard(listener)

    def end_listeners(self) -> None:
        for listener in list(self.listeners):
            listener.end()

    def connect(self, forward: Forward) -> None:
        """Pass the changes of this process on, also while it has no session."""
        with suppress(RuntimeError):  # an application is built before its event loop runs
            self._remember_loop()
        self._forwards.append(forward)

    def disconnect(self, forward: Forward) -> None:
        self._forwards.remove(forward)

    def _remember_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def list_changed(self, kind: str) -> None:
        """Announce that the list of tools, resources or prompts has changed. Thread-safe."""
        if self._has_feature(f"{kind}.listChanged"):
            self._queue(self._changed, kind)

    def resource_updated(self, uri: str) -> None:
        """Notify the subscribers of a resource. Thread-safe."""
        self._queue(self._updated, uri)

    def publish(self, topic: str, key: str, method: str, params: dict[str, Any]) -> None:
        """Notify the listen streams that follow a key of an extension's topic. Not thread-safe."""
        for listener in list(self.listeners):
            if key in listener.topics.get(topic, ()):
                listener.notify(method, params)

    def _queue(self, pending: dict[str, None], change: str) -> None:
        if self._loop is None or not (self._sessions or self.listeners or self._forwards):
            return
        if threading.get_ident() == self._thread:
            self._schedule(pending, change)
        else:
            self._loop.call_soon_threadsafe(self._schedule, pending, change)

    def _schedule(self, pending: dict[str, None], change: str) -> None:
        pending[change] = None
        if not self._scheduled and self._loop is not None:
            self._scheduled = True
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        self._scheduled = False
        changed, self._changed = self._changed, {}
        updated, self._updated = self._updated, {}
        self.deliver(changed, updated)
        for forward in self._forwards:
            forward(changed, updated)

    def deliver(self, changed: Iterable[str], updated: Iterable[str]) -> None:
        """Notify the sessions and listen streams of this process."""
        for kind in changed:
            ready = (session for session in self._sessions if session.ready)
            _post(ready, Notification(f"notifications/{kind}/list_changed"))
            for listener in self._listeners_of(kind, None):
                listener.notify(f"notifications/{kind}/list_changed", {})
        for uri in updated:
            subscribed = (s for s in self._sessions if s.ready and uri in s.subscriptions)
            _post(subscribed, Notification("notifications/resources/updated", {"uri": uri}))
            for listener in self._listeners_of(None, uri):
                listener.notify("notifications/resources/updated", {"uri": uri})

    def _listeners_of(self, kind: str | None, uri: str | None) -> list[Listener]:
        return [listener for listener in self.listeners if kind in listener.kinds or uri in listener.uris]


def _post(sessions: Iterable[Session], notification: Notification) -> None:
    data = encode(notification)
    for session in list(sessions):
        session.post(data)
