"""The parts of an HTTP response that a load generator needs, read with as little work as possible."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

HEAD_END: Final = b"\r\n\r\n"
LONGEST_HEAD: Final = 64 * 1024
MOST_CACHED: Final = 256
LONGEST_LINE: Final = 1024
"""Of the line with the size of a chunk."""


class BadResponse(ValueError):
    """It is not HTTP/1.1, or exceeds a limit."""


class ResponseHead(Struct, frozen=True):
    status: int
    length: int | None
    """None if the body is chunked, or ends with the connection."""
    chunked: bool
    is_stream: bool
    keeps_alive: bool
    session: str | None


class HeadCache:
    """Most heads of a server are the same bytes, so each is parsed once, or once a second by its date."""

    def __init__(self) -> None:
        self._known: dict[bytes, ResponseHead] = {}

    def get(self, raw: bytes) -> ResponseHead:
        """
        Raises:
            BadResponse: it is not the head of a response.
        """
        head = self._known.get(raw)
        if head is None:
            head = parse_head(raw)
            if len(self._known) >= MOST_CACHED:
                self._known.clear()
            self._known[raw] = head
        return head


def parse_head(raw: bytes) -> ResponseHead:
    """
    Raises:
        BadResponse: it is not the head of a response.
    """
    start, *lines = raw.decode("latin-1").split("\r\n")
    version, _, rest = start.partition(" ")
    status = rest[:3]
    if not version.startswith("HTTP/1.") or not status.isdecimal():
        raise BadResponse(f"not an HTTP/1 status line: {start[:80]!r}")
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields[name.strip().lower()] = value.strip()
    code = int(status)
    bodiless = code in (204, 304) or code < 200
    length = "0" if bodiless else fields.get("content-length")
    if length is not None and not length.isdecimal():
        raise BadResponse(f"not a content-length: {length[:80]!r}")
    chunked = not bodiless and "chunked" in fields.get("transfer-encoding", "").lower()
    closes = "close" in fields.get("connection", "").lower() or version == "HTTP/1.0"
    return ResponseHead(
        status=code,
        length=int(length) if length is not None and not chunked else None,
        chunked=chunked,
        is_stream=fields.get("content-type", "").startswith("text/event-stream"),
        keeps_alive=not closes and (chunked or length is not None),
        session=fields.get("mcp-session-id"),
    )


class ChunkReader:
    """Removes the chunked coding. `is_over` after the last chunk and its trailers."""

    def __init__(self) -> None:
        self._held = b""
        self._left = 0
        self._in_trailers = False
        self.is_over = False

    def feed(self, data: bytes) -> bytes:
        """The content in these bytes.

        Raises:
            BadResponse: they are not chunks.
        """
        data = self._held + data
        self._held = b""
        content: list[bytes] = []
        while data and not self.is_over:
            if self._left > 2:
                piece = data[: self._left - 2]
                content.append(piece)
                data = data[len(piece) :]
                self._left -= len(piece)
            elif self._left:
                skipped = min(self._left, len(data))
                data = data[skipped:]
                self._left -= skipped
            else:
                data = self._read_line(data)
        return b"".join(content)

    def _read_line(self, data: bytes) -> bytes:
        line, end, rest = data.partition(b"\r\n")
        if len(line) > LONGEST_LINE:
            raise BadResponse("the line of a chunk is too long")
        if not end:
            self._held = data
            return b""
        if self._in_trailers:
            self.is_over = not line
            return rest
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:
            raise BadResponse(f"not the size of a chunk: {line[:40]!r}") from None
        if size < 0:
            raise BadResponse(f"not the size of a chunk: {line[:40]!r}")
        self._in_trailers = not size
        self._left = size + 2 if size else 0
        return rest
