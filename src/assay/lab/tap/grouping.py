"""Which conversation an HTTP request belongs to. The protocol names it only where there are sessions.

A session id decides. Without one, a request belongs to the conversation of its connection, or else to the
newest one of a client of the same host and name that still has a connection; `initialize` begins a new one.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assay.lab.harness.links.http_text import body_of
from assay.lab.harness.transport import Transport
from assay.revisions.registry import BY_DATE

from .capture import NEWEST, Capture
from .carried import LARGEST, envelope
from .conversation import Conversation
from .http_stream import HeadFields

MOST: Final = 1000
SESSION: Final = b"mcp-session-id"
Key = bytes | tuple[str, bytes]
"""A session, an address, or a client by its host and name."""


class Link:
    """A connection of a client."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.conversation: Conversation | None = None
        """That of the last request."""


class Grouping:
    def __init__(self, capture: Capture, path: str) -> None:
        """`path` is that of the server's endpoint."""
        self._capture = capture
        self._path = path.encode()
        self._by_session: dict[Key, Conversation] = {}
        self._by_client: dict[Key, Conversation] = {}
        self._by_target: dict[Key, Conversation] = {}
        """Conversations on HTTP+SSE, by the address for messages."""

    def conversation(self, link: Link, head: HeadFields, raw: bytes) -> Conversation | None:
        """The conversation of a request; None if it cannot be recorded."""
        chosen = self._chosen(link, head, raw)
        if chosen is not link.conversation:
            self.leave(link)
            link.conversation = chosen
            if chosen is not None:
                chosen.links += 1
        return chosen

    def _chosen(self, link: Link, head: HeadFields, raw: bytes) -> Conversation | None:
        if head.get(b"upgrade").lower() == b"websocket":  # each connection is a conversation
            return self._capture.begin(Transport.WEBSOCKET)
        session, key = head.get(SESSION), (link.host, head.get(b"user-agent"))
        body = body_of(raw) if head.words[0] == b"POST" else b""
        method = envelope(body)[1] if 0 < len(body) <= LARGEST else ""
        target = head.words[1] if len(head.words) > 1 else b""
        current = self._known(self._by_session, session) if session else self._known(self._by_target, target)
        if current is None and not session:
            current = self._of_client(link, key, opens=method == "initialize")
        if current is None:
            current = self._capture.begin(Transport.HTTP, _revision(head, method, body))
            if current is None:
                return None
            _remember(self._by_session if session else self._by_client, session or key, current)
        current.has_messages = current.has_messages or bool(body)
        current.has_session = current.has_session or bool(session)
        return current

    def _of_client(self, link: Link, key: tuple[str, bytes], *, opens: bool) -> Conversation | None:
        current = link.conversation
        if current is None or current.is_over or current.has_session:
            current = self._known(self._by_client, key)
        if current is None or (opens and current.has_messages) or current.has_session:
            return None
        return current

    @staticmethod
    def _known(table: dict[Key, Conversation], key: Key) -> Conversation | None:
        known = table.get(key)
        return None if known is None or known.is_over else known

    def leave(self, link: Link) -> None:
        """The connection belongs to its conversation no more."""
        if link.conversation is not None:
            link.conversation.links -= 1
            link.conversation = None

    def name_session(self, session: bytes, conversation: Conversation) -> None:
        """The server has assigned a session."""
        if session:
            conversation.has_session = True
            _remember(self._by_session, session, conversation)

    def name_target(self, url: bytes, conversation: Conversation) -> None:
        """The server has named the address for messages."""
        place = url.find(b"/", url.find(b"//") + 2) if b"://" in url else 0
        _remember(self._by_target, url[place:] if place >= 0 else b"/", conversation)

    def is_elsewhere(self, head: HeadFields) -> bool:
        """Whether a request is not for the endpoint."""
        target = head.words[1] if len(head.words) > 1 else b""
        return target.partition(b"?")[0] != self._path and target not in self._by_target


def _remember(table: dict[Key, Conversation], key: Key, conversation: Conversation) -> None:
    table.pop(key, None)
    table[key] = conversation
    while len(table) > MOST:
        del table[next(iter(table))]


def _revision(head: HeadFields, method: str, body: bytes) -> str:
    """The revision that the client names; the trace shows which one was agreed."""
    named = head.get(b"mcp-protocol-version").decode("latin-1")
    if method == "initialize":
        named = offered(body)
    return named if named in BY_DATE else NEWEST


class _Params(msgspec.Struct):
    protocolVersion: str = ""


class _Opening(msgspec.Struct):
    params: _Params = msgspec.field(default_factory=_Params)


_decode: Final = msgspec.json.Decoder(_Opening).decode


def offered(body: bytes) -> str:
    """The version in an `initialize` request."""
    try:
        return _decode(body).params.protocolVersion
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
