"""What processes that share sessions send each other."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw, Struct

HTTP: Final = "http"
"""The topic of these notices."""


class Appended(Struct, tag="appended"):
    """A stream that the receiver follows has a new message, or has ended."""

    session: str
    stream: str


class Announced(Struct, tag="announced"):
    """Standalone streams of many sessions have a new message."""


class Followed(Struct, tag="followed"):
    """Another process follows a stream: the receiver's connection has to end."""

    session: str
    stream: str


class Ended(Struct, tag="ended"):
    session: str


class Relayed(Struct, tag="relayed"):
    """An answer or a cancellation, for the process whose handler waits for it."""

    session: str
    message: Raw


Notice = Appended | Announced | Followed | Ended | Relayed

encode_notice: Final = msgspec.json.Encoder().encode
decode_notice: Final = msgspec.json.Decoder(Notice).decode
