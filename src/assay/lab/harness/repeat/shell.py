"""Bytes as words of a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

_UNPRINTABLE: Final = re.compile(rb"[\x00-\x1f\x7f]")


def as_word(data: bytes) -> str | None:
    """The bytes as one word that can be read; None if they are not printable text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return shlex.quote(text) if text.isprintable() else None


def printed(pieces: Sequence[bytes]) -> str:
    """A `printf` that writes these bytes, in one line: reports show a command in one line."""
    words = [as_word(piece.removesuffix(b"\n")) for piece in pieces]
    if all(piece.endswith(b"\n") for piece in pieces) and None not in words:
        return " ".join(("printf", r"'%s\n'", *map(str, words)))
    whole = b"".join(pieces)
    word = as_word(whole)
    return f"printf %b {shlex.quote(_escaped(whole))}" if word is None else f"printf %s {word}"


def _escaped(data: bytes) -> str:
    """The bytes for `%b`: what cannot be read is octal."""
    escaped = data.replace(b"\\", b"\\\\").replace(b"\n", b"\\n")
    printable = _UNPRINTABLE.sub(lambda match: b"\\%04o" % match[0][0], escaped)
    try:
        text = printable.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text.isprintable() and text:
        return text
    return "".join(chr(byte) if byte < 0x80 else f"\\{byte:04o}" for byte in printable)
