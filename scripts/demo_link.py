"""Ways to a server, byte for byte: standard streams and HTTP requests; `demo_socket.py` adds WebSockets.

Nothing of Assay's client or server side is used here, so what works with this works with others. A link sends
one request at a time and, while it waits for the answer, takes whatever else the server sends.
"""

import json
import queue
import socket
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import demo_show as show
from demo_show import FROM_SERVER, TO_SERVER, Json

from assay.protocol.framing.sse import SseParser

TIMEOUT: Final = 10.0
"""Seconds to wait for one message; an answer takes milliseconds."""
LONGEST_EVENT: Final = 1024 * 1024
JSON_TYPE: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream"
META: Final = "io.modelcontextprotocol/"
"""Prefix of the `_meta` members that the protocol defines."""


class Unexpected(Exception):
    """The server did something wrong."""


class Answer(NamedTuple):
    message: Json
    before: list[Json]
    """Messages between the request and this answer."""
    form: str
    """`line` on stdio, `frame` on a WebSocket; on HTTP the media type of the response."""
    status: int | None = None
    """On HTTP."""

    @property
    def result(self) -> Json:
        if "result" not in self.message:
            raise Unexpected(f"error instead of a result: {self.message.get('error')}")
        result: Json = self.message["result"]
        return result


class Link(ABC):
    """A connection to a server. `respond` answers its requests."""

    def __init__(self, respond: Callable[[Json], Json]) -> None:
        self._respond = respond
        self._inbox: queue.Queue[Json | None] = queue.Queue()
        self.notices: list[Json] = []
        """Notifications that were not waited for yet."""

    @abstractmethod
    def ask(self, request: Json) -> Answer:
        """Send a request and wait for its answer."""

    @abstractmethod
    def tell(self, message: Json) -> None:
        """Send a notification or a response."""

    @abstractmethod
    def open(self, request: Json) -> None:
        """Send a request that stays open; `wait_for` returns its messages."""

    @abstractmethod
    def leave(self, request: Json) -> None:
        """End a request that stays open."""

    @abstractmethod
    def close(self) -> None:
        """End the conversation and read the remaining messages."""

    def wait_for(self, method: str) -> Json:
        """Wait for a notification that belongs to no request."""
        while True:
            for notice in self.notices:
                if notice["method"] == method:
                    self.notices.remove(notice)
                    return notice
            self._take(self._receive())

    def _receive(self) -> Json:
        try:
            message = self._inbox.get(timeout=TIMEOUT)
        except queue.Empty:
            raise Unexpected(f"no message within {TIMEOUT:g} s") from None
        if message is None:
            raise Unexpected("the server ended the conversation")
        return message

    def _take(self, message: Json, note: str = "") -> None:
        show.message(FROM_SERVER, message, note)
        if "id" in message and "method" in message:
            self.tell(self._respond(message))
        elif "method" in message:
            self.notices.append(message)
        else:
            raise Unexpected(f"unexpected answer: {message}")


class DuplexLink(Link):
    """All messages use one connection; `form` is the kind of a message."""

    form: str

    def ask(self, request: Json) -> Answer:
        self.tell(request)
        before: list[Json] = []
        while True:
            message = self._receive()
            if "method" not in message and message.get("id") == request["id"]:
                show.message(FROM_SERVER, message)
                return Answer(message, before, self.form)
            before.append(message)
            self._take(message)

    def open(self, request: Json) -> None:
        self.tell(request)

    def leave(self, request: Json) -> None:
        self.tell(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request["id"]}}
        )

    def _take_what_is_left(self) -> None:
        while (left := self._inbox.get(timeout=TIMEOUT)) is not None:
            self._take(left)


class StdioLink(DuplexLink):
    """A process that reads one message a line and writes one message a line."""

    form = "line"

    def __init__(self, process: subprocess.Popen[bytes], respond: Callable[[Json], Json]) -> None:
        super().__init__(respond)
        self._process = process
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._inbox.put(json.loads(line))
        self._inbox.put(None)

    def tell(self, message: Json) -> None:
        assert self._process.stdin is not None
        show.message(TO_SERVER, message)
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        show.remark("end of input")
        code = self._process.wait(TIMEOUT)
        self._reader.join(TIMEOUT)
        self._take_what_is_left()
        if code != 0:
            raise Unexpected(f"the server ended with exit code {code}")
        show.remark("the server left with exit code 0")


class HttpLink(Link):
    """Streamable HTTP: each message is a POST; a GET or listen stream carries unsolicited messages."""

    streams = True
    """Whether messages besides answers can arrive."""

    def __init__(self, url: str, respond: Callable[[Json], Json]) -> None:
        super().__init__(respond)
        parts = urlsplit(url)
        self._address = (parts.hostname or "localhost", parts.port or 80)
        self._path = parts.path
        self._headers: dict[str, str] = {}
        self._listener: threading.Thread | None = None
        self._latest_socket: socket.socket | None = None
        self._open_socket: socket.socket | None = None

    @property
    def in_session(self) -> bool:
        return "Mcp-Session-Id" in self._headers

    def use_revision(self, date: str) -> None:
        """Send the negotiated revision from now on, as required after `initialize`."""
        self._headers["MCP-Protocol-Version"] = date

    def _send(self, verb: str, headers: dict[str, str], body: bytes | None = None) -> HTTPResponse:
        connection = HTTPConnection(*self._address, timeout=TIMEOUT)
        try:
            connection.request(verb, self._path, body, {"Connection": "close", **self._headers, **headers})
            self._latest_socket = connection.sock
            return connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def _post(self, message: Json) -> HTTPResponse:
        headers = {"Content-Type": JSON_TYPE, "Accept": f"{JSON_TYPE}, {EVENT_STREAM}", **mirrors(message)}
        show.message(TO_SERVER, message, "POST")
        return self._send("POST", headers, json.dumps(message).encode())

    def tell(self, message: Json) -> None:
        with self._post(message) as response:
            body = response.read()
            show.remark(f"{FROM_SERVER} {response.status}")
            if response.status != 202 or body:
                raise Unexpected(f"expected 202 without a body: {response.status} {body!r}")

    def ask(self, request: Json) -> Answer:
        with self._post(request) as response:
            if session := response.getheader("Mcp-Session-Id"):
                self._headers["Mcp-Session-Id"] = session
            form = response.getheader("Content-Type", "none")
            if form == JSON_TYPE:
                message = json.loads(response.read())
                show.message(FROM_SERVER, message, f"{response.status} {form}")
                return Answer(message, [], form, response.status)
            if form == EVENT_STREAM and response.status == 200:
                show.remark(f"{FROM_SERVER} {response.status} {form}")
                return self._read_answer(request, response)
            raise Unexpected(f"neither JSON nor an event stream: {response.status} {form}")

    def _read_answer(self, request: Json, response: HTTPResponse) -> Answer:
        before: list[Json] = []
        for message in events(response):
            if "method" not in message and message.get("id") == request["id"]:
                show.message(FROM_SERVER, message, "event")
                return Answer(message, before, EVENT_STREAM, response.status)
            before.append(message)
            self._take(message, "event")
        raise Unexpected("the stream ended without the answer")

    def listen(self) -> None:
        """Open the GET stream; it is read until the server ends it."""
        response = self._send("GET", {"Accept": EVENT_STREAM})
        show.remark(f"{TO_SERVER} GET")
        show.remark(f"{FROM_SERVER} {response.status} {response.getheader('Content-Type')}")
        if response.status != 200:
            raise Unexpected(f"no GET stream: {response.status} {response.read()!r}")
        self._follow(response)

    def open(self, request: Json) -> None:
        response = self._post(request)
        show.remark(f"{FROM_SERVER} {response.status} {response.getheader('Content-Type')}")
        if response.status != 200:
            raise Unexpected(f"no listen stream: {response.status} {response.read()!r}")
        self._open_socket = self._latest_socket
        self._follow(response)

    def leave(self, request: Json) -> None:
        show.remark(f"{TO_SERVER} close #{request['id']}")
        assert self._open_socket is not None
        # Not closed here: the reading thread sees the end and closes it.
        self._open_socket.shutdown(socket.SHUT_RDWR)

    def _follow(self, response: HTTPResponse) -> None:
        self._listener = threading.Thread(target=self._listen, args=(response,), daemon=True)
        self._listener.start()

    def _listen(self, response: HTTPResponse) -> None:
        try:
            for message in events(response):
                self._inbox.put(message)
        except (OSError, HTTPException):
            pass  # the end of the stream
        self._inbox.put(None)

    def close(self) -> None:
        if self.in_session:
            self._delete()
        while self._listener is not None and (left := self._inbox.get(timeout=TIMEOUT)) is not None:
            self._take(left, "event")
        if self.in_session:
            self._return_late()

    def _delete(self) -> None:
        with self._send("DELETE", {}) as response:
            show.remark(f"{TO_SERVER} DELETE")
            show.remark(f"{FROM_SERVER} {response.status}")
            if response.status != 204:
                raise Unexpected(f"DELETE should end the session with 204: {response.status}")

    def _return_late(self) -> None:
        with self._post({"jsonrpc": "2.0", "id": "late", "method": "ping"}) as response:
            show.message(FROM_SERVER, json.loads(response.read()), str(response.status))
            if response.status != 404:
                raise Unexpected(f"a request in an ended session should get 404: {response.status}")


class PlainHttpLink(HttpLink):
    """Plain HTTP: one answer to each POST, and nothing else."""

    streams = False


def mirrors(message: Json) -> dict[str, str]:
    """The headers that repeat parts of a request, on the revision that has them."""
    params = message.get("params", {})
    version = params.get("_meta", {}).get(f"{META}protocolVersion")
    if version is None:
        return {}
    name = params.get("name", params.get("uri"))
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": message["method"]}
    return headers if name is None else {**headers, "Mcp-Name": name}


def events(response: HTTPResponse) -> Iterator[Any]:
    """The messages on an event stream; an event without data only primes it for resumption."""
    parser = SseParser(LONGEST_EVENT)
    while chunk := response.read1(65536):
        for event in parser.feed(chunk):
            if event.data:
                yield json.loads(event.data)
