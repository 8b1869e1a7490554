"""A WebSocket on a plain socket; only the framing comes from the package."""

import json
import os
import socket
import threading
from base64 import b64encode
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

import demo_show as show
from demo_link import LONGEST_EVENT, TIMEOUT, DuplexLink, Unexpected
from demo_show import FROM_SERVER, TO_SERVER, Json

from assay.protocol.framing.websocket import (
    NORMAL,
    PONG,
    TEXT,
    Close,
    MessageReader,
    Ping,
    Violation,
    WebSocketEvent,
    close_frame,
    frame,
)
from assay.protocol.http.upgrade import accept_key

END_OF_HEAD: Final = b"\r\n\r\n"


class SocketLink(DuplexLink):
    """One connection for one conversation."""

    form = "frame"

    def __init__(self, url: str, respond: Callable[[Json], Json]) -> None:
        super().__init__(respond)
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=TIMEOUT)
        self._frames = MessageReader(LONGEST_EVENT, masked=False)
        self._closed: Close | None = None
        rest = self._upgrade(parts.netloc, parts.path)
        self._reader = threading.Thread(target=self._read, args=(rest,), daemon=True)
        self._reader.start()

    def _upgrade(self, host: str, path: str) -> bytes:
        """Perform the RFC 6455 handshake; bytes after the server's head are its first frames."""
        key = b64encode(os.urandom(16))
        head = (
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mcp\r\n"
            f"Sec-WebSocket-Key: {key.decode()}\r\n\r\n"
        )
        self._socket.sendall(head.encode())
        show.remark(f"{TO_SERVER} GET {path}, upgrade to WebSocket, subprotocol mcp")
        answer = b""
        while END_OF_HEAD not in answer:
            if not (data := self._socket.recv(65536)):
                raise Unexpected("the server closed the connection")
            answer += data
        lines, _, rest = answer.partition(END_OF_HEAD)
        status, *headers = lines.lower().split(b"\r\n")
        show.remark(f"{FROM_SERVER} {status.decode()}")
        expected = {b"sec-websocket-accept: " + accept_key(key).lower(), b"sec-websocket-protocol: mcp"}
        if b" 101 " not in status or not expected <= set(headers):
            raise Unexpected(f"no WebSocket: {answer!r}")
        return rest

    def _read(self, data: bytes) -> None:
        try:
            while self._take_frames(self._frames.feed(data)) and (data := self._socket.recv(65536)):
                pass
        except OSError:
            pass  # the end of the connection
        self._inbox.put(None)

    def _take_frames(self, events: list[WebSocketEvent]) -> bool:
        """Returns false at the end."""
        for event in events:
            if isinstance(event, str):
                self._inbox.put(json.loads(event))
            elif isinstance(event, Ping):
                self._send(PONG, event.payload)
            elif isinstance(event, Close):
                self._closed = event
                return False
            elif isinstance(event, Violation | bytes):
                raise Unexpected(f"invalid frame from a server: {event!r}")
        return True

    def _send(self, opcode: int, payload: bytes) -> None:
        self._socket.sendall(frame(opcode, payload, mask=os.urandom(4)))

    def tell(self, message: Json) -> None:
        show.message(TO_SERVER, message)
        self._send(TEXT, json.dumps(message).encode())

    def close(self) -> None:
        show.remark(f"{TO_SERVER} close, {NORMAL}")
        self._socket.sendall(close_frame(NORMAL, mask=os.urandom(4)))
        self._reader.join(TIMEOUT)
        self._take_what_is_left()
        self._socket.close()
        if self._closed is None or self._closed.code != NORMAL:
            raise Unexpected(f"the server should answer a close with {NORMAL}: {self._closed}")
        show.remark(f"{FROM_SERVER} close, {NORMAL}")
