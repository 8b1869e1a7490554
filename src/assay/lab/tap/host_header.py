"""The one change that a tap makes: clients of a server elsewhere name the tap as their host.

A server with another name refuses requests for this one, or answers for another site. Everything else
passes as it is, also the rest of a connection that cannot be read.
"""

from __future__ import annotations

import re
from typing import Final

from assay.lab.harness.links.http_call import is_local

from .http_stream import Body, HeadFields, HttpStream

_HOST: Final = re.compile(rb"(?im)^(host:[ \t]*)([^\r\n]*)")


class HostHeader:
    def __init__(self, authority: str, listen: str) -> None:
        self._authority = authority.encode()
        self._listen = listen.lower()
        self._stream = HttpStream(self)
        self._held = b""
        self._heads: list[tuple[int, int]] = []
        self._begin = 0
        """Where the held bytes are in the stream."""

    def changed(self, data: bytes) -> bytes:
        """The bytes to pass on; the beginning of a head is held until it is complete."""
        data, self._held = self._held + data, b""
        new = data[self._stream.waiting :]
        self._stream.feed(new)
        parts, place = [], 0
        for begin, end in self._heads:
            parts += [
                data[place : begin - self._begin],
                self._head(data[begin - self._begin : end - self._begin]),
            ]
            place = end - self._begin
        self._heads.clear()
        end = len(data) - (self._stream.waiting if self._stream.is_in_head else 0)
        parts.append(data[place:end])
        self._held = data[end:]
        self._begin += end
        return b"".join(parts)

    def _head(self, head: bytes) -> bytes:
        return _HOST.sub(self._replaced, head, count=1)

    def _replaced(self, match: re.Match[bytes]) -> bytes:
        name = match[2].strip().decode("latin-1").lower()
        # A page may have rebound its name to this address: the server then sees that name, and refuses it.
        is_ours = name == self._listen or is_local(name)
        return match[1] + (self._authority if is_ours else match[2])

    # What the stream reports.

    def on_head(self, fields: HeadFields) -> int | Body | None:
        end = self._stream.consumed
        self._heads.append((end - len(fields.raw), end))
        if fields.get(b"upgrade"):  # nothing follows before the switch but bytes of the other protocol
            return Body.OTHER_PROTOCOL
        length = fields.length
        return Body.NONE if length == -1 else length

    def on_body(self, data: bytes) -> None:
        """Passed on as it came."""

    def on_end(self) -> None:
        """Passed on as it came."""

    def on_rest(self, data: bytes) -> None:
        """Passed on as it came."""

    def on_unreadable(self, problem: str) -> None:
        """Passed on as it came."""
