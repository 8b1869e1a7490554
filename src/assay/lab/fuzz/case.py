"""A case: a short conversation with a subject, as a value that can be stored and run again."""

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
"""The most bytes of a stored case; generated cases are far smaller."""
KNOWN: Final = frozenset[str]().union(*(revision.requests | revision.notifications for revision in REVISIONS))
UNKNOWN: Final = "no-such-thing-of-the-lab"
_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{2,128}")
_NOWHERE: Final = Frame(0, 0.0, Sender.DRIVER, "", Kind.MARK)


class Step(Struct, frozen=True, array_like=True):
    """A message, an HTTP request or raw bytes of the driver."""

    body: bytes = b""
    headers: tuple[tuple[str, str | None], ...] = ()
    """On HTTP: added to the default headers; None removes one."""
    verb: str = "POST"
    framed: bool = True
    """Whether the transport frames the body as a message; otherwise it is written unchanged."""
    may_run_long: bool = False
    """Whether it makes a tool work, for a time that only its author knows."""

    @property
    def label(self) -> str:
        """The kind of step, by which similar findings are recognised."""
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
    """The tool that a request may call; empty if it is not a call, or the name is not a plausible one."""
    name = message.params.get("name") if message.method == "tools/call" else None
    is_name = isinstance(name, str) and name != UNKNOWN and _NAME.fullmatch(name)
    return str(name) if is_name else ""


class Case(Struct, frozen=True, array_like=True):
    steps: tuple[Step, ...]
    together: bool = False
    """Send all steps at once; otherwise each waits for the answers to the one before."""

    @property
    def labels(self) -> frozenset[str]:
        if self.together:
            return frozenset({"requests at once"})
        return frozenset(step.label for step in self.steps)

    @property
    def size(self) -> tuple[int, int]:
        """A sort key: of two cases with the same finding, the smaller one is reported."""
        length = sum(len(step.body) + sum(len(name) for name, _ in step.headers) for step in self.steps)
        return len(self.steps), length


class BadCase(ValueError):
    """A text is not a valid case."""


def dump_case(case: Case) -> str:
    """A case as a single word for the command line."""
    return urlsafe_b64encode(zlib.compress(msgspec.msgpack.encode(case), 9)).decode().rstrip("=")


def parse_case(text: str) -> Case:
    """
    Raises:
        BadCase: the text is not a case.
    """
    try:
        packed = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return msgspec.msgpack.decode(_unpacked(packed), type=Case)
    except (ValueError, binascii.Error, zlib.error, msgspec.DecodeError):
        raise BadCase(f"not a case: {text[:40]}") from None


def _unpacked(packed: bytes) -> bytes:
    decompressor = zlib.decompressobj()
    data = decompressor.decompress(packed, LARGEST)
    if decompressor.unconsumed_tail or not decompressor.eof:
        raise ValueError("too large, or truncated")
    return data
