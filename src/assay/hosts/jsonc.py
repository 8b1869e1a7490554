"""JSON with comments and trailing commas, as editors keep their settings: read, and changed in place.

A change is an edit of the text: every comment, blank and order of keys outside of it stays as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

MOST_DEPTH: Final = 100
_BLANKS: Final = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_REST_OF_LINE: Final = re.compile(r"(?:[ \t]+|/\*[^\n]*?\*/)*(?://[^\n]*)?")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD: Final = re.compile(r"[-+.\w]+")
_INDENT: Final = re.compile(r'^([ \t]+)"', re.MULTILINE)


class BadJson(ValueError):
    """The text is not JSON with comments. The message names the line."""


class Node(NamedTuple):
    """A value, and where it stands in the text."""

    start: int
    end: int
    value: Any
    """A dict of nodes, a list of nodes, or a plain value."""
    last: int = 0
    """Of an object or array: the end of its last member, and of the comma after it."""
    has_comma: bool = False
    """Whether a comma follows the last member."""


def read(text: str) -> Any:
    """The value, as plain dicts and lists; None for a text that holds no value.

    Raises:
        BadJson: it is not valid.
    """
    node = _parse(text)
    return None if node is None else _plain(node)


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a member of an object set to a value. Objects on the way to it are made if necessary.

    Raises:
        BadJson: it is not valid, or something on the way is not an object.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = _INDENT.search(text)
    style = _Style(indent[1] if indent else "  ", newline)
    node = _parse(text)
    if node is None:
        return text + style.rendered(_nested(path, value), 0) + newline
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            place = ".".join(path[:depth]) or "the file"
            raise BadJson(f"{place} is not an object, but {_kind(node.value)}")
        if key not in node.value:
            member = style.member(key, _nested(path[depth + 1 :], value), depth + 1)
            return _insert(text, node, member, f"{newline}{style.indent * depth}")
        node = node.value[key]
    return text[: node.start] + style.rendered(value, len(path)) + text[node.end :]


class _Style(NamedTuple):
    indent: str
    newline: str

    def rendered(self, value: Any, depth: int) -> str:
        lines = json.dumps(value, indent=self.indent, ensure_ascii=False).split("\n")
        return f"{self.newline}{self.indent * depth}".join(lines)

    def member(self, key: str, value: Any, depth: int) -> str:
        name = json.dumps(key, ensure_ascii=False)
        return f"{self.newline}{self.indent * depth}{name}: {self.rendered(value, depth)}"


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _insert(text: str, node: Node, member: str, last_line: str) -> str:
    """After the last member, and after the comment on its line. `last_line` begins the line of the brace."""
    if not node.value:
        rest = text[node.start + 1 :]
        return f"{text[: node.start + 1]}{member}{last_line if rest.startswith('}') else ''}{rest}"
    line = _REST_OF_LINE.match(text, node.last)
    place = line.end() if line else node.last
    if node.has_comma:
        return f"{text[:place]}{member},{text[place:]}"
    end = last_line if text.startswith("}", place) else ""
    return f"{text[: node.last]},{text[node.last : place]}{member}{end}{text[place:]}"


def _plain(node: Node) -> Any:
    if isinstance(node.value, dict):
        return {key: _plain(member) for key, member in node.value.items()}
    if isinstance(node.value, list):
        return [_plain(member) for member in node.value]
    return node.value


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else f"the value {json.dumps(value)[:40]}"


def _parse(text: str) -> Node | None:
    reader = _Reader(text)
    reader.skip()
    if reader.position == len(text):
        return None
    node = reader.value(0)
    reader.skip()
    if reader.position < len(text):
        raise reader.problem("more than one value")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 1 if text.startswith("\ufeff") else 0

    def skip(self) -> None:
        if match := _BLANKS.match(self._text, self.position):
            self.position = match.end()

    def problem(self, reason: str) -> BadJson:
        line = self._text.count("\n", 0, self.position) + 1
        shown = self._text[self.position : self.position + 20].partition("\n")[0]
        return BadJson(f"line {line}: {reason}: {shown!r}" if shown else f"line {line}: {reason}, at the end")

    def value(self, depth: int) -> Node:
        if depth > MOST_DEPTH:
            raise self.problem(f"nested more than {MOST_DEPTH} deep")
        match self._next():
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case '"':
                return self._string()
        start = self.position
        word = _WORD.match(self._text, start)
        try:
            value = json.loads(word[0]) if word else None
        except ValueError:
            word = None
        if word is None:
            raise self.problem("a value is missing")
        self.position = word.end()
        return Node(start, self.position, value)

    def _next(self) -> str:
        return self._text[self.position : self.position + 1]

    def _string(self) -> Node:
        match = _STRING.match(self._text, self.position)
        if match is None:
            raise self.problem("a text in quotes is missing or not closed")
        start, self.position = self.position, match.end()
        try:
            return Node(start, match.end(), json.loads(match[0]))
        except ValueError:
            self.position = start
            raise self.problem("the escape in a text is invalid") from None

    def _object(self, depth: int) -> Node:
        start, members = self.position, dict[str, Node]()

        def member() -> None:
            key = self._string()
            self.skip()
            if self._next() != ":":
                raise self.problem(f"a colon is missing after {key.value!r}")
            self.position += 1
            self.skip()
            members[key.value] = self.value(depth + 1)

        last, has_comma = self._members("}", member)
        return Node(start, self.position, members, last, has_comma)

    def _array(self, depth: int) -> Node:
        start, items = self.position, list[Node]()
        last, has_comma = self._members("]", lambda: items.append(self.value(depth + 1)))
        return Node(start, self.position, items, last, has_comma)

    def _members(self, end: str, read_member: Callable[[], object]) -> tuple[int, bool]:
        self.position += 1
        last, has_comma = self.position, True
        while True:
            self.skip()
            if self._next() == end:
                self.position += 1
                return last, has_comma
            if not has_comma:
                raise self.problem(f"a comma or {end} is missing")
            read_member()
            last = self.position
            self.skip()
            has_comma = self._next() == ","
            if has_comma:
                self.position += 1
                last = self.position
