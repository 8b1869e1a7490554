"""A TCP relay that keeps every byte, and the secrets that were in them: they are known, not guessed."""

import base64
import binascii
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote, unquote_plus

from interop.between import Between, Look


@dataclass(frozen=True, order=True)
class Secret:
    kind: str
    text: str = field(repr=False)


@dataclass
class Talk:
    """One connection: what the client said, and what the server did."""

    asked: bytearray = field(default_factory=bytearray)
    answered: bytearray = field(default_factory=bytearray)

    def answers(self) -> list[tuple[int, bytes]]:
        """Each response with its status."""
        parts = RESPONSE.split(bytes(self.answered))
        return [(int(status), rest) for status, rest in zip(parts[1::2], parts[2::2], strict=True)]


RESPONSE = re.compile(rb"HTTP/1\.1 (\d{3}) ")
# Where OAuth puts secrets: a header, a form or a query, a JSON object. Each kind by the words for it.
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


def secrets_in(talks: Iterable[Talk]) -> set[Secret]:
    return {secret for talk in talks for said in (talk.asked, talk.answered) for secret in found(bytes(said))}


def found(said: bytes) -> Iterator[Secret]:
    for kind, pattern in PATTERNS:
        for value in pattern.findall(said):
            yield Secret(kind, unquote_plus(value.decode("latin-1")).strip())
    for value in BASIC.findall(said):
        yield Secret("client secret", value.decode("latin-1").strip())
        try:
            _, colon, secret = base64.b64decode(value).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            continue  # sent on purpose, by someone who tests: it holds nothing
        if colon:
            yield Secret("client secret", unquote(secret))


class Recorder(Between):
    """Keeps what is said."""

    def __init__(self) -> None:
        super().__init__()
        self.talks: list[Talk] = []

    def looks(self) -> tuple[Look, Look]:
        talk = Talk()
        self.talks.append(talk)
        return kept_in(talk.asked), kept_in(talk.answered)


def kept_in(record: bytearray) -> Look:
    def keep(chunk: bytes) -> bool:
        record.extend(chunk)
        return False

    return keep


@asynccontextmanager
async def recording() -> AsyncIterator[Recorder]:
    """A recorder that listens on `port`; its `target` must be told before somebody connects."""
    recorder = Recorder()
    async with recorder.listening():
        yield recorder
