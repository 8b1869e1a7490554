"""Messages between the parent and a worker: JSON, a line each, on a socket that never blocks."""

from __future__ import annotations

import json
import socket
from typing import Any, Final

Message = dict[str, Any]
MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""Most that a message may have. The largest are the metrics of a worker."""
UNSENT_BYTES: Final = 8 * 1024 * 1024
"""Most that may wait for a reader that does not read; further messages are dropped."""
PART: Final = 65536


class ChannelClosed(ConnectionError):
    """The process at the other end has ended, or sent something else than messages."""


class Channel:
    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self.socket = end
        self._received = bytearray()
        self._unsent = bytearray()

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def send(self, message: Message) -> None:
        """Send a message, or as much of it as fits now; `flush` sends the rest.

        What the other end does not read is dropped beyond a bound: it has ended or is stuck, and either is
        noticed elsewhere.
        """
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        if len(self._unsent) + len(data) <= UNSENT_BYTES:
            self._unsent += data
        self.flush()

    def flush(self) -> None:
        try:
            while self._unsent:
                sent = self.socket.send(self._unsent)
                del self._unsent[:sent]
        except BlockingIOError:
            return
        except OSError:
            self._unsent.clear()  # `receive` reports the end

    def receive(self) -> list[Message]:
        """The messages that have arrived.

        Raises:
            ChannelClosed: there will be no more.
        """
        try:
            while part := self.socket.recv(PART):
                self._received += part
                if len(self._received) > MESSAGE_BYTES:
                    raise ChannelClosed("a message is too long")
        except BlockingIOError:
            return self._take()
        except OSError as error:
            raise ChannelClosed(str(error)) from error
        if messages := self._take():
            return messages  # the end is reported by the next call
        raise ChannelClosed("the other process has ended")

    def _take(self) -> list[Message]:
        *lines, rest = self._received.split(b"\n")
        self._received = bytearray(rest)
        try:
            messages = [json.loads(line) for line in lines]
        except ValueError as error:
            raise ChannelClosed("not a message") from error
        if not all(isinstance(message, dict) for message in messages):
            raise ChannelClosed("not a message")
        return messages

    def close(self) -> None:
        self.socket.close()
