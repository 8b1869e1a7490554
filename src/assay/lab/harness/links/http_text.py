"""HTTP/1.1 heads as text, written from names and values verbatim and read without repairing anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

CRLF: Final = b"\r\n"
HEAD_END: Final = b"\r\n\r\n"
EVENT_STREAM: Final = "text/event-stream"
JSON: Final = "application/json"


class Head(Struct, frozen=True):
    """A request or response head. `start` is its first line, in three parts."""

    start: tuple[str, str, str]
    headers: tuple[tuple[str, str], ...]

    @property
    def method(self) -> str:
        return self.start[0]

    @property
    def target(self) -> str:
        return self.start[1]

    @property
    def status(self) -> int:
        """Status code of a response; 0 if the status line has no number."""
        return int(self.start[1]) if self.start[1].isdecimal() else 0

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def get(self, name: str) -> str | None:
        return next(iter(self.all(name)), None)

    @property
    def media_type(self) -> str:
        return (self.get("content-type") or "").partition(";")[0].strip().lower()


def write_request(
    method: str, target: str, headers: Iterable[tuple[str, str | bytes]], body: bytes = b""
) -> bytes:
    lines = [f"{method} {target} HTTP/1.1".encode("latin-1")]
    for name, value in headers:
        text = value if isinstance(value, bytes) else value.encode("utf-8")
        lines.append(name.encode("latin-1") + b": " + text)
    return CRLF.join(lines) + HEAD_END + body


def parse_head(raw: bytes) -> Head:
    """Parse a head leniently: malformed heads are evidence, too."""
    return _parse(raw.partition(HEAD_END)[0])


# Cached because dozens of checks read the same few heads.
@lru_cache(maxsize=1024)
def _parse(head: bytes) -> Head:
    first, *rest = head.split(CRLF)
    words = first.decode("latin-1").split(" ", 2)
    start = (*words, "", "")[:3]
    pairs = (line.decode("latin-1").partition(":") for line in rest)
    return Head((start[0], start[1], start[2]), tuple((name, value.strip()) for name, _, value in pairs))


def body_of(raw: bytes) -> bytes:
    """The bytes after the head of a request."""
    return raw.partition(HEAD_END)[2]


def with_bearer(headers: Mapping[str, str], token: str | None) -> dict[str, str]:
    """The headers with this bearer token as the only credentials, or without credentials."""
    others = {name: value for name, value in headers.items() if name.lower() != "authorization"}
    return others if token is None else {**others, "Authorization": f"Bearer {token}"}
