"""Records the frames of one scenario, up to a limit, without the credentials in them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from assay.lab.harness.links.broken_off import BrokenOff

from .encoded_secret import EncodedSecrets
from .frame import Frame, Header, Kind, Sender
from .trace import Trace

REPLACEMENT: Final = b"[redacted]"
ALWAYS: Final = ("authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key")
"""Headers whose value is a credential by definition."""
SHORTEST: Final = 8
"""Shorter secrets would match unrelated text; they are only replaced in the header that carries them."""
MAX_FRAMES: Final = 20_000
MAX_BYTES: Final = 64 * 1024 * 1024
"""Several times the traffic of the largest scenario with a server that limits messages to 4 MiB."""
_WITH_HEAD: Final = frozenset({Kind.REQUEST, Kind.HEAD})


class Redaction:
    """Replaces known secrets everywhere, also in other encodings, and the values of headers that carry
    credentials."""

    def __init__(
        self, secrets: Iterable[str] = (), headers: Iterable[str] = (), always: Iterable[str] = ALWAYS
    ) -> None:
        self._secrets: tuple[bytes, ...] = ()
        self._encoded = EncodedSecrets()
        for secret in secrets:
            self.learn(secret)
        names = "|".join(re.escape(name) for name in (*always, *headers))
        self._header = re.compile(
            rf"^((?:{names})[ \t]*:[ \t]*)([^\r\n]*)".encode(), re.IGNORECASE | re.MULTILINE
        )

    def learn(self, secret: str) -> None:
        """Redact this secret, too, from now on."""
        if len(secret) >= SHORTEST:
            # Longest first: a secret may be part of another.
            self._secrets = tuple(sorted({*self._secrets, *_forms(secret)}, key=len, reverse=True))
            self._encoded.learn(secret.encode())

    def text(self, raw: bytes) -> bytes:
        for secret in self._secrets:
            raw = raw.replace(secret, REPLACEMENT)
        return self._encoded.replaced(raw, REPLACEMENT)

    def head(self, raw: bytes) -> bytes:
        """Redact data that begins with an HTTP head, where credentials are found by header name."""
        head, end, body = raw.partition(b"\r\n\r\n")
        return self._header.sub(rb"\g<1>" + REPLACEMENT, self.text(head)) + end + self.text(body)

    def string(self, text: str) -> str:
        # Servers may send lone surrogates.
        return self.text(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def value(self, value: Any) -> Any:
        """Redact every string in a JSON value, keys included."""
        match value:
            case str():
                return self.string(value)
            case list():
                return [self.value(item) for item in value]
            case dict():
                return {self.string(key): self.value(item) for key, item in value.items()}
        return value


def _forms(secret: str) -> set[bytes]:
    """The secret verbatim, and escaped as in JSON."""
    return {form.encode() for form in (secret, json.dumps(secret)[1:-1])}


class Flooded(BrokenOff):
    """The subject sent more than a recording may hold."""

    def __str__(self) -> str:
        return f"the subject flooded the driver: more than {MAX_FRAMES} frames or {MAX_BYTES} bytes"


class Recorder:
    def __init__(
        self,
        header: Header,
        redaction: Redaction | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.header = header
        self._redaction = redaction or Redaction()
        self._clock = clock
        self.begun = clock()
        self._frames: list[Frame] = []
        self._bytes = 0
        self.flooded = False
        self._on_next_frame: Callable[[], None] | None = None

    def record(self, sender: Sender, channel: str, kind: Kind, raw: bytes = b"", **info: Any) -> Frame:
        """
        Raises:
            Flooded: a limit is exceeded; the frame is not recorded.
        """
        if len(self._frames) >= MAX_FRAMES or self._bytes + len(raw) > MAX_BYTES:
            self.flooded = True
            raise Flooded
        clean = self._redaction.head(raw) if kind in _WITH_HEAD else self._redaction.text(raw)
        moment = self._clock() - self.begun
        known = self._redaction.value(info) if info else info
        frame = Frame(len(self._frames), round(moment, 6), sender, channel, kind, clean, known)
        self._frames.append(frame)
        self._bytes += len(raw)
        if sender is Sender.SUBJECT and self._on_next_frame is not None:
            callback, self._on_next_frame = self._on_next_frame, None
            callback()
        return frame

    def on_next_frame(self, callback: Callable[[], None]) -> None:
        """Call back at the next frame of the subject, once."""
        self._on_next_frame = callback

    def prepend(self, frames: Iterable[Frame], begun: float, name: str) -> None:
        """Prepend the frames of a recording that started at `begun`, under a new connection name."""
        for frame in frames:
            moment = round(begun + frame.t - self.begun, 6)
            channel = f"{name}/{frame.channel.partition('/')[2]}"
            self._frames.append(
                msgspec.structs.replace(frame, n=len(self._frames), t=moment, channel=channel)
            )

    def mark(self, channel: str, label: str, **info: Any) -> Frame:
        return self.record(Sender.DRIVER, channel, Kind.MARK, label=label, **info)

    @property
    def exits(self) -> tuple[Frame, ...]:
        return tuple(frame for frame in self._frames if frame.kind is Kind.EXIT)

    def trace(self, *, closed: bool) -> Trace:
        """The trace recorded so far."""
        return Trace(msgspec.structs.replace(self.header, closed=closed), self._frames)
