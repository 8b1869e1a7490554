"""Known secrets in other spellings: Base64, hexadecimal and percent-encoded, alone or inside of more."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import deque
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_to_bytes

from msgspec import Struct

MOST: Final = 64
"""Secrets that are looked for: a run with short-lived tokens learns new ones all the time."""
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_ALPHABET: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_BITS: Final = 6
Span = tuple[int, int]


class _Core(Struct, frozen=True):
    """The characters of Base64 that only the secret decides, wherever it begins in what was encoded."""

    text: bytes
    before: int
    after: int
    """Whether the character before, or after, holds some of its bits, too: 1 or 0."""


class _Spellings(Struct, frozen=True):
    secret: bytes
    cores: tuple[_Core, ...]
    hexadecimal: bytes
    percent: re.Pattern[bytes]


class EncodedSecrets:
    """Finds the newest secrets. The cost is a few searches in C for each secret."""

    def __init__(self) -> None:
        self._spellings: deque[_Spellings] = deque(maxlen=MOST)
        self._shortest = 0

    def learn(self, secret: bytes) -> None:
        if any(known.secret == secret for known in self._spellings):
            return
        digits = b"".join(b"(?:%b|%%%02x)" % (re.escape(bytes([byte])), byte) for byte in secret)
        self._spellings.append(
            _Spellings(secret, _cores(secret), secret.hex().encode(), re.compile(digits, re.IGNORECASE))
        )
        self._shortest = min(len(core.text) for known in self._spellings for core in known.cores)

    def replaced(self, raw: bytes, replacement: bytes) -> bytes:
        if not self._spellings or len(raw) < self._shortest:
            return raw
        spans = sorted((*self._in_base64(raw), *self._in_hexadecimal(raw), *self._in_percent(raw)))
        if not spans:
            return raw
        parts, done = [], 0
        for begin, end in spans:
            if end > done:
                parts += [raw[done:begin], replacement] if begin >= done else []
                done = end
        return b"".join((*parts, raw[done:]))

    def _in_base64(self, raw: bytes) -> Iterator[Span]:
        text = raw.translate(_STANDARD)
        for known in self._spellings:
            for core in known.cores:
                if core.text in text:  # seldom, and quicker than to start a generator
                    for begin in _places(text, core.text):
                        yield _widened(text, begin, begin + len(core.text), core)

    def _in_hexadecimal(self, raw: bytes) -> Iterator[Span]:
        text = raw.lower()
        for known in self._spellings:
            if known.hexadecimal in text:
                for begin in _places(text, known.hexadecimal):
                    yield begin, begin + len(known.hexadecimal)

    def _in_percent(self, raw: bytes) -> Iterator[Span]:
        if b"%" not in raw:
            return
        decoded = unquote_to_bytes(raw)
        for known in self._spellings:
            if known.secret in decoded:
                yield from (match.span() for match in known.percent.finditer(raw))


def _cores(secret: bytes) -> tuple[_Core, ...]:
    return tuple(_core(secret, lead) for lead in range(3))


def _core(secret: bytes, lead: int) -> _Core:
    """`lead` is the number of bytes before the secret, in the last group of three that they share."""
    bits = 8 * (lead + len(secret))
    begin = -(-8 * lead // _BITS)
    text = b64encode(bytes(lead) + secret)[begin : bits // _BITS]
    return _Core(text, before=1 if lead else 0, after=1 if bits % _BITS else 0)


def _places(text: bytes, part: bytes) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + len(part))


def _widened(text: bytes, begin: int, end: int, core: _Core) -> Span:
    """With the characters that hold the remaining bits, and the padding."""
    if core.before and begin > 0 and text[begin - 1] in _ALPHABET:
        begin -= 1
    if core.after and end < len(text) and text[end] in _ALPHABET:
        end += 1
    while end < len(text) and text[end] == ord("="):
        end += 1
    return begin, end
