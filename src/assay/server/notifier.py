"""Who hears of changes: sessions that are open, told once per turn of the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable

from assay.model.jsonrpc import Notification
from assay.protocol.codec import encode
from assay.protocol.session import Session

from .port import ListenStream


class ChangeNotifier:
    def __init__(self, announces: Callable[[str], bool]) -> None:
        self._announces = announces
        """Whether a feature such as `tools.listChanged` is declared."""
        self._sessions: set[Session] = set()
        self.listeners: set[ListenStream] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        self._changed: dict[str, None] = {}
        self._updated: dict[str, None] = {}
        self._scheduled = False

    def __len__(self) -> int:
        return len(self._sessions)

    def join(self, session: Session) -> None:
        self._note_loop()
        self._sessions.add(session)

    def listen(self, listener: ListenStream) -> None:
        self._note_loop()
        self.listeners.add(listener)

    def stop_listening(self, listener: ListenStream) -> None:
        self.listeners.discard(listener)

    def end_listening(self) -> None:
        """End all listen streams, each with its proper last words."""
        for listener in list(self.listeners):
            listener.end()

    def _note_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def leave(self, session: Session) -> None:
        self._sessions.discard(session)

    def list_changed(self, kind: str) -> None:
        """Announce that the list of tools, resources or prompts has changed. Callable from any thread."""
        if self._announces(f"{kind}.listChanged"):
            self._note(self._changed, kind)

    def resource_updated(self, uri: str) -> None:
        """Tell subscribers that a resource has new contents. Callable from any thread."""
        self._note(self._updated, uri)

    def _note(self, pending: dict[str, None], what: str) -> None:
        if self._loop is None or not (self._sessions or self.listeners):
            return
        if threading.get_ident() == self._thread:
            self._schedule(pending, what)
        else:
            self._loop.call_soon_threadsafe(self._schedule, pending, what)

    def _schedule(self, pending: dict[str, None], what: str) -> None:
        pending[what] = None
        if not self._scheduled and self._loop is not None:
            self._scheduled = True
            self._loop.call_soon(self._tell)

    def _tell(self) -> None:
        self._scheduled = False
        changed, self._changed = self._changed, {}
        updated, self._updated = self._updated, {}
        for kind in changed:
            ready = (session for session in self._sessions if session.ready)
            _post(ready, Notification(f"notifications/{kind}/list_changed"))
            for listener in self._hearing(kind, None):
                listener.tell(f"notifications/{kind}/list_changed", {})
        for uri in updated:
            subscribed = (s for s in self._sessions if s.ready and uri in s.subscriptions)
            _post(subscribed, Notification("notifications/resources/updated", {"uri": uri}))
            for listener in self._hearing(None, uri):
                listener.tell("notifications/resources/updated", {"uri": uri})

    def _hearing(self, kind: str | None, uri: str | None) -> list[ListenStream]:
        return [one for one in self.listeners if kind in one.kinds or uri in one.uris]


def _post(sessions: Iterable[Session], notification: Notification) -> None:
    data = encode(notification)
    for session in list(sessions):
        session.post(data)
