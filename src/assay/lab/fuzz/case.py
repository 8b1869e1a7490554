"""A case: a short conversation that is tried on a subject; a value, so it can be kept and tried again."""

from __future__ import annotations

import binascii
import re
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message, Shape, read_messages
from assay.revisions.registry import REVISIONS

LARGEST: Final = 8 * 1024 * 1024
"""Bytes of a case as it is read back: far more than any that is made here."""
KNOWN: Final = frozenset[str]().union(*(one.requests | one.notifications for one in REVISIONS))
UNKNOWN: Final = "no-such-thing-of-the-lab"
_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{2,128}")
_NOWHERE: Final = Frame(0, 0.0, Sender.DRIVER, "", Kind.MARK)


class Step(Struct, frozen=True, array_like=True):
    """One thing that the driver says."""

    body: bytes = b""
    headers: tuple[tuple[str, str | None], ...] = ()
    """On HTTP: added to the usual ones, or left out where there is no value."""
    verb: str = "POST"
    framed: bool = True
    """Whether the transport frames the body as a message; otherwise it is written as it is."""
    at_leisure: bool = False
    """Whether it sets a tool to work, which may take as long as its author likes."""

    @property
    def label(self) -> str:
        """What kind of thing it is, so that two findings can be told to be one."""
        if self.verb != "POST":
            return self.verb
        if not self.framed:
            return "raw bytes"
        named = "".join(f" with {name}" for name in sorted({name for name, _ in self.headers}))
        return f"{_kind(self.body)}{named}"


def _kind(body: bytes) -> str:
    messages = list(read_messages(_NOWHERE, body))
    if len(messages) != 1 or messages[0].place is not None:
        return "batch"
    (message,) = messages
    if message.shape is Shape.UNKNOWN:
        return "no message"
    if message.is_response:
        return "response"
    method = message.method if message.method in KNOWN else "unknown method"
    return " ".join((message.shape.value, method, tool_name(message))).rstrip()


def tool_name(message: Message) -> str:
    """Which tool a request may reach; nothing where it is no call, or no name that a tool would have."""
    name = message.params.get("name") if message.method == "tools/call" else None
    is_name = isinstance(name, str) and name != UNKNOWN and _NAME.fullmatch(name)
    return str(name) if is_name else ""


class Case(Struct, frozen=True, array_like=True):
    steps: tuple[Step, ...]
    together: bool = False
    """All at once; otherwise each waits for what the one before is owed."""

    @property
    def labels(self) -> frozenset[str]:
        if self.together:
            return frozenset({"requests at once"})
        return frozenset(step.label for step in self.steps)

    @property
    def size(self) -> tuple[int, int]:
        """How much there is to read: the smaller of two cases that show the same is the better one."""
        told = sum(len(one.body) + sum(len(name) for name, _ in one.headers) for one in self.steps)
        return len(self.steps), told


class BadCase(ValueError):
    """A text is no case."""


def dump_case(case: Case) -> str:
    """A case as one word for a command line."""
    return urlsafe_b64encode(zlib.compress(msgspec.msgpack.encode(case), 9)).decode().rstrip("=")


def parse_case(text: str) -> Case:
    """
    Raises:
        BadCase: it is none.
    """
    try:
        packed = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return msgspec.msgpack.decode(_unpacked(packed), type=Case)
    except (ValueError, binascii.Error, zlib.error, msgspec.DecodeError):
        raise BadCase(f"not a case: {text[:40]}") from None


def _unpacked(packed: bytes) -> bytes:
    opened = zlib.decompressobj()
    data = opened.decompress(packed, LARGEST)
    if opened.unconsumed_tail or not opened.eof:
        raise ValueError("too large, or cut off")
    return data
