"""Values that a client and its surroundings make up, named wherever they stand: heads, bodies, marks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from json import dumps, loads
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

import msgspec

from assay.lab.harness.links.http_text import Head, body_of, parse_head
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.trace import Trace

from .normaliser import MADE_UP

SHORTEST: Final = 8
"""Characters of a value that is looked for everywhere: less might be a word."""
_KEYS: Final = {key: rule.name for rule in MADE_UP for key in rule.keys}
_HEADERS: Final = {header: rule.name for rule in MADE_UP for header in rule.headers}
_PATTERNS: Final = {rule.name: re.compile(rule.pattern.encode()) for rule in MADE_UP if rule.pattern}
_Found = Iterator[tuple[str, str]]
"""Names of rules, and values as they are spelled."""


class Disguise:
    """For the frames of one trace, in canonical order: names count from one in each."""

    def __init__(self, trace: Trace, frames: Iterable[Frame], touched: Counter[str]) -> None:
        self._touched = touched
        self._names: dict[str, dict[str, bytes]] = defaultdict(dict)
        self._values: dict[bytes, tuple[str, str]] = {}
        """Rules and values, by every way in which the values are spelled."""
        apart = {one.channel for one in trace.frames if one.kind is Kind.REQUEST and "at" in one.info}
        for frame in frames:
            for rule, spelled in _found(frame, apart=frame.channel in apart):
                self._note(rule, spelled)
        every = sorted(self._values, key=len, reverse=True)
        self._literal = re.compile(b"|".join(map(re.escape, every))) if every else None

    def _note(self, rule: str, spelled: str) -> None:
        value = unquote(spelled)
        if len(value) >= SHORTEST and not value.startswith("(") and "://" not in value:
            for spelling in {spelled, value, quote(value, safe="")}:
                self._values.setdefault(spelling.encode(), (rule, value))

    def rewritten(self, frame: Frame) -> Frame:
        info = frame.info
        if frame.kind is Kind.MARK:
            info = loads(self._text(dumps(info).encode()))
        return msgspec.structs.replace(frame, raw=self._text(frame.raw), info=info)

    def _text(self, raw: bytes) -> bytes:
        if self._literal is not None:
            raw = self._literal.sub(lambda found: self._name(*self._values[found[0]]), raw)
        for rule, pattern in _PATTERNS.items():
            raw = pattern.sub(lambda found, rule=rule: self._inside(rule, found), raw)  # type: ignore[misc]
        return raw

    def _inside(self, rule: str, found: re.Match[bytes]) -> bytes:
        """What matched, with its last group named."""
        begin, end = (at - found.start() for at in found.span(found.lastindex or 0))
        value = found[0][begin:end].decode("utf-8", "replace")
        return found[0][:begin] + self._name(rule, value) + found[0][end:]

    def _name(self, rule: str, value: str) -> bytes:
        self._touched[rule] += 1
        names = self._names[rule]
        # Without a blank: the name may stand in the first line of a request.
        return names.setdefault(value, f"({rule.replace(' ', '-')}-{len(names) + 1})".encode())


def _found(frame: Frame, *, apart: bool) -> _Found:
    """Whatever is made up in a frame; `apart` from the endpoint, bodies are about authorization."""
    if frame.kind is Kind.MARK:
        yield from _members(frame.info)
    if frame.kind in (Kind.REQUEST, Kind.HEAD):
        head = parse_head(frame.raw)
        yield from _in_head(head)
        if apart and "urlencoded" in (head.get("content-type") or ""):
            yield from _parameters(body_of(frame.raw).decode("utf-8", "replace"))
    if apart:
        yield from _members(_json(body_of(frame.raw) if frame.kind is Kind.REQUEST else frame.raw))


def _in_head(head: Head) -> _Found:
    yield from _parameters(urlsplit(head.target).query)
    for name, value in head.headers:
        if name.lower() in _HEADERS:
            yield _HEADERS[name.lower()], value
        elif name.lower() == "location":
            yield from _parameters(urlsplit(value).query)
        elif name.lower() == "authorization":
            yield "token", value.partition(" ")[2]


def _parameters(text: str) -> _Found:
    """As they are spelled there: which characters are escaped is for each client to choose."""
    pairs = (pair.partition("=") for pair in text.split("&"))
    yield from ((_KEYS[key], value) for key, _, value in pairs if key in _KEYS)


def _members(value: Any) -> _Found:
    """Those of an object, however deep."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in _KEYS and isinstance(inner, str):
                yield _KEYS[key], inner
            yield from _members(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _members(inner)


def _json(raw: bytes) -> Any:
    try:
        return loads(raw)
    except (ValueError, RecursionError):
        return None
