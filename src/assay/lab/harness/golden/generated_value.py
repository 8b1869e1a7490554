"""Names for values that a client or the lab generates, wherever they occur: heads, bodies, marks."""

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

from .normaliser import GENERATED

SHORTEST: Final = 8
"""Shorter values are not replaced, because they could be ordinary words."""
_KEYS: Final = {key: rule.name for rule in GENERATED for key in rule.keys}
_HEADERS: Final = {header: rule.name for rule in GENERATED for header in rule.headers}
_PATTERNS: Final = {rule.name: re.compile(rule.pattern.encode()) for rule in GENERATED if rule.pattern}
_Values = Iterator[tuple[str, str]]
"""The name of the rule and the escaped value."""


class GeneratedNames:
    """Names for the values of one trace, numbered in canonical order."""

    def __init__(self, trace: Trace, frames: Iterable[Frame], applied: Counter[str]) -> None:
        self._applied = applied
        self._names: dict[str, dict[str, bytes]] = defaultdict(dict)
        self._values: dict[bytes, tuple[str, str]] = {}
        """The rule and the value, by every escaped form of the value."""
        elsewhere = {
            frame.channel for frame in trace.frames if frame.kind is Kind.REQUEST and "at" in frame.info
        }
        for frame in frames:
            for rule, escaped in _values(frame, at_endpoint=frame.channel not in elsewhere):
                self._add(rule, escaped)
        literals = sorted(self._values, key=len, reverse=True)
        self._literal = re.compile(b"|".join(map(re.escape, literals))) if literals else None

    def _add(self, rule: str, escaped: str) -> None:
        value = unquote(escaped)
        if len(value) >= SHORTEST and not value.startswith("(") and "://" not in value:
            for form in {escaped, value, quote(value, safe="")}:
                self._values.setdefault(form.encode(), (rule, value))

    def rewritten(self, frame: Frame) -> Frame:
        info = frame.info
        if frame.kind is Kind.MARK:
            info = loads(self._text(dumps(info).encode()))
        return msgspec.structs.replace(frame, raw=self._text(frame.raw), info=info)

    def _text(self, raw: bytes) -> bytes:
        if self._literal is not None:
            raw = self._literal.sub(lambda match: self._name(*self._values[match[0]]), raw)
        for rule, pattern in _PATTERNS.items():
            raw = pattern.sub(lambda match, rule=rule: self._replace(rule, match), raw)  # type: ignore[misc]
        return raw

    def _replace(self, rule: str, match: re.Match[bytes]) -> bytes:
        """The match, with its last group replaced by a name."""
        begin, end = (at - match.start() for at in match.span(match.lastindex or 0))
        value = match[0][begin:end].decode("utf-8", "replace")
        return match[0][:begin] + self._name(rule, value) + match[0][end:]

    def _name(self, rule: str, value: str) -> bytes:
        self._applied[rule] += 1
        names = self._names[rule]
        # Without spaces, because the name may occur in a request line.
        return names.setdefault(value, f"({rule.replace(' ', '-')}-{len(names) + 1})".encode())


def _values(frame: Frame, *, at_endpoint: bool) -> _Values:
    """The generated values of a frame. Only bodies outside the MCP endpoint are about authorization."""
    if frame.kind is Kind.MARK:
        yield from _members(frame.info)
    if frame.kind in (Kind.REQUEST, Kind.HEAD):
        head = parse_head(frame.raw)
        yield from _head_values(head)
        if not at_endpoint and "urlencoded" in (head.get("content-type") or ""):
            yield from _parameters(body_of(frame.raw).decode("utf-8", "replace"))
    if not at_endpoint:
        yield from _members(_json(body_of(frame.raw) if frame.kind is Kind.REQUEST else frame.raw))


def _head_values(head: Head) -> _Values:
    yield from _parameters(urlsplit(head.target).query)
    for name, value in head.headers:
        if name.lower() in _HEADERS:
            yield _HEADERS[name.lower()], value
        elif name.lower() == "location":
            yield from _parameters(urlsplit(value).query)
        elif name.lower() == "authorization":
            yield "token", value.partition(" ")[2]


def _parameters(text: str) -> _Values:
    """Still escaped, because clients differ in the characters that they escape."""
    pairs = (pair.partition("=") for pair in text.split("&"))
    yield from ((_KEYS[key], value) for key, _, value in pairs if key in _KEYS)


def _members(value: Any) -> _Values:
    """The members of an object at any depth."""
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
