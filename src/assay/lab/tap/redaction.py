"""Secrets of live traffic, which are not known beforehand: recognised where they pass, removed everywhere.

A value that a header, a parameter of a URL or form, or a member of a JSON object declares to be a credential
is learned: the lab then removes it wherever it appears later, also in other encodings. The structure of what
passes stays, so that it can be judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import unquote_plus

from assay.lab.harness.trace.recorder import ALWAYS, REPLACEMENT, SHORTEST, Redaction

from .http_stream import CACHED

HEADERS: Final = (*ALWAYS, "x-auth-token", "x-access-token", "api-key", "authentication", "dpop")
MOST_HEADS: Final = 256
MOST: Final = 64
"""Secrets that are remembered; each costs a search of every frame. Values are removed where they are
declared in any case."""
LONGEST: Final = 8192
_NAMES: Final = (
    r"(?:access|refresh|id|auth|bearer|subject|actor)[_-]?token|client[_-]?secret|client[_-]?assertion"
    r"|(?:api|private|secret|access|signing)[_-]?key|apikey|password|passwd|passphrase|secret|authorization"
    r"|code[_-]?verifier|x-api-key"
)
_MEMBER: Final = re.compile(
    rf'("(?:{_NAMES})"[ \t\r\n]*:[ \t\r\n]*")((?:[^"\\]|\\.)+)'.encode(), re.IGNORECASE
)
_NESTED: Final = re.compile(
    rf'(\\"(?:{_NAMES})\\"[ \t]*:[ \t]*\\")((?:[^"\\]|\\\\.)+)'.encode(), re.IGNORECASE
)
"""The same inside of a string that holds JSON, as the text of a tool's result does."""
_PARAMETER: Final = re.compile(
    rf"([?&\n](?:{_NAMES}|token|key|code|sig|signature|assertion)=)([^&\s\"'#<>]+)".encode(), re.IGNORECASE
)
_CREDENTIALS: Final = re.compile(
    rb"^(?:proxy-)?authorization[ \t]*:[ \t]*(?:bearer|dpop|token|basic)[ \t]+([^\s,]+)"
    rb"|^(?:x-api-key|api-key|x-auth-token|x-access-token)[ \t]*:[ \t]*(\S+)",
    re.IGNORECASE | re.MULTILINE,
)
_SECRET_VARIABLE: Final = re.compile(r"TOKEN|SECRET|PASSW|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|CREDENTIAL", re.I)


class LiveRedaction(Redaction):
    def __init__(self, secrets: Iterable[str] = (), headers: Iterable[str] = ()) -> None:
        self._heads: dict[bytes, bytes] = {}
        """Heads without secrets, by what they were: clients send nearly the same one again and again."""
        super().__init__(headers=headers, always=HEADERS)
        self._known: set[str] = set()
        for secret in secrets:
            self._learn(secret)

    def _learn(self, secret: str) -> None:
        is_usable = SHORTEST <= len(secret) <= LONGEST and len(self._known) < MOST
        if is_usable and secret not in self._known:
            self._known.add(secret)
            self.learn(secret)

    def learn(self, secret: str) -> None:
        super().learn(secret)
        self._heads.clear()

    def head(self, raw: bytes) -> bytes:
        head, end, body = raw.partition(b"\r\n\r\n")
        known = self._heads.get(head)
        if known is not None:
            return known + end + self.text(body)
        clean = self._clean_head(head)
        if b"form-urlencoded" in head and body:
            body = _PARAMETER.sub(self._declared, b"\n" + body)[1:]
        elif len(head) <= CACHED:
            if len(self._heads) >= MOST_HEADS:
                self._heads.clear()
            self._heads[head] = clean
        return clean + end + self.text(body)

    def _clean_head(self, head: bytes) -> bytes:
        for groups in _CREDENTIALS.findall(head):
            self._learn(next(filter(None, groups)).decode("utf-8", "replace"))
        line, separator, rest = head.partition(b"\r\n")
        if b"?" in line or b"location:" in rest.lower():
            line = _PARAMETER.sub(self._declared, line)
            rest = _PARAMETER.sub(self._declared, rest)
        return self._header.sub(rb"\g<1>" + REPLACEMENT, super().text(line + separator + rest))

    def text(self, raw: bytes) -> bytes:
        if _may_declare(raw):
            raw = _MEMBER.sub(self._declared, raw)
            raw = _NESTED.sub(self._declared, raw) if b'\\"' in raw else raw
            raw = _PARAMETER.sub(self._declared, raw) if b"=" in raw else raw
        return super().text(raw)

    def _declared(self, match: re.Match[bytes]) -> bytes:
        value = match[2]
        if value == REPLACEMENT or value.startswith(b"%5Bredacted"):
            return match[0]
        self._learn(value.decode("utf-8", "replace"))
        if b"%" in value or b"+" in value:
            self._learn(unquote_plus(value.decode("utf-8", "replace")))
        return match[1] + REPLACEMENT


def _may_declare(raw: bytes) -> bool:
    """Whether any of the names can be in it; quick, and nearly always false."""
    return (
        b"oken" in raw
        or b"ecret" in raw
        or b"key" in raw
        or b"Key" in raw
        or b"ass" in raw
        or b"uth" in raw
        or b"erifi" in raw
        or b"OKEN" in raw
        or b"ECRET" in raw
        or b"KEY" in raw
        or b"PASS" in raw
    )


def secrets_of(environment: Mapping[str, str], names: Iterable[str] = ()) -> list[str]:
    """The values of variables whose names say that they are secret, or that the user names."""
    chosen = set(names)
    return [
        value
        for name, value in environment.items()
        if name in chosen or (_SECRET_VARIABLE.search(name) and len(value) >= SHORTEST)
    ]


def words_without_secrets(words: Iterable[str], redaction: Redaction) -> list[str]:
    """A command line for the trace: `--api-key=VALUE` and `--token VALUE` without their values."""
    clean: list[str] = []
    hide = False
    for word in words:
        name, equals, _ = word.partition("=")
        secret = bool(_SECRET_VARIABLE.search(name.replace("-", "_"))) or "password" in name.lower()
        if hide and not word.startswith("-"):
            clean.append(REPLACEMENT.decode())
        elif secret and equals:
            clean.append(f"{name}={REPLACEMENT.decode()}")
        else:
            clean.append(redaction.string(word))
        hide = secret and not equals and word.startswith("-")
    return clean
