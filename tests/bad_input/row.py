"""The rows of the table: bad input from a client, and the expected answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from assay.model.error import INVALID_REQUEST, PARSE_ERROR
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision

NEWEST = HANDSHAKE[-1]


@dataclass(frozen=True, slots=True)
class Failed:
    """A JSON-RPC error with this id, or without one if it is None."""

    code: int
    id: int | str | None = None
    text: str = ""
    """Part of the error's message."""

    @property
    def status(self) -> int:
        return 400 if self.code in (PARSE_ERROR, INVALID_REQUEST) else 200

    def check(self, reply: Any) -> None:
        assert reply.keys() == {"jsonrpc", "error"} | ({"id"} if self.id is not None else set()), reply
        assert (self.code, self.id) == (reply["error"]["code"], reply.get("id")), reply
        assert self.text in reply["error"]["message"]

    def __str__(self) -> str:
        return f"{self.code}, {'no id' if self.id is None else f'id {display_id(self.id)}'}"


@dataclass(frozen=True, slots=True)
class Served:
    """A result for this id; with `text`, a tool error that contains it."""

    id: int | str
    text: str = ""

    status = 200

    def check(self, reply: Any) -> None:
        assert reply.keys() == {"jsonrpc", "id", "result"}, reply
        assert self.id == reply["id"]
        assert bool(self.text) == reply["result"].get("isError", False)
        assert self.text in str(reply["result"])

    def __str__(self) -> str:
        return f"{'tool error' if self.text else 'served'}, id {display_id(self.id)}"


@dataclass(frozen=True, slots=True)
class Listed:
    """The replies to a batch, in any order."""

    members: tuple[Failed | Served, ...]

    status = 200

    def check(self, reply: Any) -> None:
        assert isinstance(reply, list)
        assert len(self.members) == len(reply), reply
        rest = {member.get("id"): member for member in reply}
        for member in self.members:
            member.check(rest.pop(member.id))

    def __str__(self) -> str:
        return "list: " + "; ".join(map(str, self.members))


class Silence(Enum):
    """No JSON-RPC message; on HTTP only a status."""

    NOTHING = "no answer"

    @property
    def status(self) -> int:
        return 202

    def check(self, reply: Any) -> None:
        raise AssertionError(f"answered: {reply}")

    def __str__(self) -> str:
        return self.value


NOTHING = Silence.NOTHING
Reply = Failed | Served | Listed | Silence


@dataclass(frozen=True, slots=True)
class Ended:
    """The WebSocket is closed with this code."""

    code: int

    def __str__(self) -> str:
        return f"closes with {self.code}"


NO_TEXT = Ended(1007)


class After(Enum):
    """The state of the connection afterwards."""

    KEPT = "kept"
    """The next request must be served on it."""
    CLOSED = "closed"
    """The server closes it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The HTTP response. A status of None means that the client disconnects without waiting for it."""

    reply: Reply
    status: int | None
    after: After = After.KEPT
    header: str = ""
    """The name of a header that must be present."""


class Setting(Enum):
    """The context in which a row is sent."""

    SESSION = "in a session"
    FRESH = "before `initialize`"
    ALONE = "without a session"
    REQUIRED = "where sessions are required"


Framing = Callable[[bytes], tuple[list[tuple[str, str]], bytes]]
"""The headers of a body, and its encoded bytes."""


def whole(body: bytes) -> tuple[list[tuple[str, str]], bytes]:
    return [("content-length", str(len(body)))], body


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How the HTTP request differs from a valid one."""

    method: str = "POST"
    path: str = "/mcp"
    version: str = "HTTP/1.1"
    without: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    """Replaces all usual headers of the same names; a name may occur twice."""
    framing: Framing = whole


GOOD_HEAD = Head()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    section: str = ""
    sent: bytes
    """The message; with `raw`, all bytes of the connection."""
    display: str = ""
    """How the page shows the input, instead of `sent`."""
    because: str
    stdio: tuple[Reply, ...] | None = None
    """The replies over stdio; None if the row is not sent there."""
    http: Answer | None = None
    websocket: tuple[Reply, ...] | Ended | None = None
    """The replies over a WebSocket, or its close code."""
    setting: Setting = Setting.SESSION
    revision: Revision = NEWEST
    head: Head = field(default=GOOD_HEAD)
    raw: bool = False

    @property
    def id(self) -> str:
        return f"{self.section}: {self.case}"

    @property
    def case(self) -> str:
        """The name, with the setting where the name does not imply it."""
        return f"{self.name}, {self.setting.value}" if self.setting is Setting.REQUIRED else self.name


def display_id(request_id: int | str) -> str:
    text = f'"{request_id}"' if isinstance(request_id, str) else str(request_id)
    return text if len(text) <= 24 else f"{text[:10]}… ({len(text)} characters)"


def both(name: str, sent: bytes, reply: Reply, because: str, **more: Any) -> Row:
    """A row with the same reply on all transports."""
    return apart(name, sent, () if reply is NOTHING else (reply,), reply, because, **more)


def apart(name: str, sent: bytes, stdio: tuple[Reply, ...], http: Reply, because: str, **more: Any) -> Row:
    """A row with a different reply on HTTP."""
    return on_stdio(name, sent, stdio, because, http=Answer(http, http.status), **more)


def on_stdio(name: str, sent: bytes, replies: tuple[Reply, ...], because: str, **more: Any) -> Row:
    """A row for stdio and WebSocket; `websocket` overrides the replies of the latter."""
    more.setdefault("websocket", replies if is_text(sent) else NO_TEXT)
    return Row(name=name, sent=sent, because=because, stdio=replies, **more)


def on_websocket(
    name: str, sent: bytes, ending: Ended | tuple[Reply, ...], because: str, display: str
) -> Row:
    """A row for WebSocket; `sent` is all bytes of the connection."""
    return Row(name=name, sent=sent, because=because, websocket=ending, raw=True, display=display)


def is_text(sent: bytes) -> bool:
    """Whether a text frame may carry these bytes."""
    try:
        sent.decode()
    except UnicodeDecodeError:
        return False
    return True


def on_http(name: str, sent: bytes, answer: Reply | Answer, because: str, **more: Any) -> Row:
    http = answer if isinstance(answer, Answer) else Answer(answer, answer.status)
    return Row(name=name, sent=sent, because=because, http=http, **more)
