"""A TCP relay that records every byte, and the secrets in them."""

import base64
import binascii
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote, unquote_plus

from interop.tcp_relay import TcpRelay, Watcher


@dataclass(frozen=True, order=True)
class Secret:
    kind: str
    text: str = field(repr=False)


@dataclass
class Conversation:
    """The bytes of one connection."""

    requests: bytearray = field(default_factory=bytearray)
    responses: bytearray = field(default_factory=bytearray)

    def answers(self) -> list[tuple[int, bytes]]:
        """Each response with its status."""
        parts = RESPONSE.split(bytes(self.responses))
        return [(int(status), rest) for status, rest in zip(parts[1::2], parts[2::2], strict=True)]


RESPONSE = re.compile(rb"HTTP/1\.1 (\d{3}) ")
# Where OAuth puts secrets: headers, forms or queries, JSON objects.
IN_HEADERS = {"access token": rb"authorization: (?:bearer|dpop)", "proof": rb"dpop"}
IN_FORMS = {
    "access token": rb"(?:access_)?token",
    "refresh token": rb"refresh_token",
    "code": rb"code",
    "verifier": rb"code_verifier",
    "client secret": rb"client_secret",
    "assertion": rb"client_assertion",
}
IN_OBJECTS = {
    "access token": rb"access_token",
    "refresh token": rb"refresh_token",
    "client secret": rb"client_secret",
}
PATTERNS = (
    *((kind, re.compile(rb"(?i)\r\n" + name + rb":? +([^\r\n]+)")) for kind, name in IN_HEADERS.items()),
    *((kind, re.compile(rb"(?:[?&]|\n)" + name + rb"=([^&\s]+)")) for kind, name in IN_FORMS.items()),
    *((kind, re.compile(rb'"' + name + rb'"\s*:\s*"([^"]+)"')) for kind, name in IN_OBJECTS.items()),
)
BASIC = re.compile(rb"(?i)\r\nauthorization: basic +([^\r\n]+)")
KINDS = tuple(dict.fromkeys(kind for kind, _ in PATTERNS))


def secrets_in(conversations: Iterable[Conversation]) -> set[Secret]:
    return {
        secret
        for conversation in conversations
        for data in (conversation.requests, conversation.responses)
        for secret in secrets_of_bytes(bytes(data))
    }


def secrets_of_bytes(data: bytes) -> Iterator[Secret]:
    for kind, pattern in PATTERNS:
        for value in pattern.findall(data):
            yield Secret(kind, unquote_plus(value.decode("latin-1")).strip())
    for value in BASIC.findall(data):
        yield Secret("client secret", value.decode("latin-1").strip())
        try:
            _, colon, secret = base64.b64decode(value).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            continue  # invalid on purpose, by a test
        if colon:
            yield Secret("client secret", unquote(secret))


class Recorder(TcpRelay):
    """Records all connections."""

    def __init__(self) -> None:
        super().__init__()
        self.conversations: list[Conversation] = []

    def watchers(self) -> tuple[Watcher, Watcher]:
        conversation = Conversation()
        self.conversations.append(conversation)
        return append_to(conversation.requests), append_to(conversation.responses)


def append_to(record: bytearray) -> Watcher:
    def keep(chunk: bytes) -> bool:
        record.extend(chunk)
        return False

    return keep


@asynccontextmanager
async def recording() -> AsyncIterator[Recorder]:
    """A recorder that listens on `port`; set its `target` before a client connects."""
    recorder = Recorder()
    async with recorder.listening():
        yield recorder
