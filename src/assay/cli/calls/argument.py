"""Arguments of a tool or prompt as words: `key=value` typed by the schema, `key:=JSON`, `key=@FILE`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.output.stream import say

from .schema import Misfit, alternatives, describe, properties, read_json, read_value, required, resolve

FILE_BYTES: Final = 16 * 1024 * 1024
"""The largest file or input: a larger message would be refused by most servers."""
_WORD: Final = re.compile(r"([^=\s]+?)(:?=)(.*)", re.DOTALL)
FORMS: Final = """\
arguments:
  key=value        typed by the tool's schema: integer, number, boolean, string, null or a listed value
  key=a key=b      several items of an array; key='["a", "b"]' is the same
  key.part=value   one property of an argument that is an object
  key:=JSON        exactly this value
  key=@FILE        the contents of the file (key:=@FILE reads JSON); @- is standard input
  '{…}', @FILE, -  all arguments as one JSON object: a word, a file, or standard input"""


class _Word(NamedTuple):
    key: str
    text: str
    is_json: bool
    is_file: bool


class Arguments(NamedTuple):
    """The words of one call, and the schema that types them."""

    tool: str
    schema: Any

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """
        Raises:
            CommandFailed: a word is not an argument, does not fit the schema, or one is missing.
        """
        values: dict[str, Any] = {}
        for word in words:
            if word.startswith(("{", "@")) or word == "-":
                values.update(_whole(word))
            else:
                self._add(values, _split(word))
        self._check_missing(values)
        return values

    def _add(self, values: dict[str, Any], word: _Word) -> None:
        names = properties(self.schema, self.schema)
        place, schema = values, names.get(word.key)
        key, outer = word.key, names
        while key not in outer and "." in key:
            head, _, rest = key.partition(".")
            if head not in outer or not (inner := self._object_properties(outer[head])):
                break
            place, key, outer = place.setdefault(head, {}), rest, inner
            schema = inner.get(rest)
            if not isinstance(place, dict):
                raise _usage(f"argument {head} is given both as a whole and in parts", "give it once")
        if schema is None:
            self._unknown(word.key, names)
        self._put(place, key, word, {} if schema is None else schema)

    def _object_properties(self, schema: Any) -> dict[str, Any]:
        for option in alternatives(resolve(schema, self.schema), self.schema):
            if inner := properties(option, self.schema):
                return inner
        return {}

    def _put(self, place: dict[str, Any], key: str, word: _Word, schema: Any) -> None:
        try:
            value = _value(word, schema, self.schema)
        except Misfit as error:
            text = word.text if len(word.text) <= 60 else f"{word.text[:60]}…"
            problem = f"argument {word.key} must be {error}, not {text!r}"
            raise _usage(problem, f"`assay tools TARGET {self.tool}` shows its arguments") from None
        if key in place:
            if not isinstance(place[key], list) or not isinstance(value, list):
                raise _usage(
                    f"argument {word.key} is given twice", "give it once; only arrays have several items"
                )
            value = place[key] + value
        place[key] = value

    def _unknown(self, key: str, names: Mapping[str, Any]) -> None:
        """Refuse a name that the schema excludes; warn of others, which the server may accept."""
        from difflib import get_close_matches

        near = get_close_matches(key, names, n=1)
        known = f"its arguments: {', '.join(list(names)[:20])}" if names else "it takes no arguments"
        hint = f"did you mean {near[0]}?" if near else known
        problem = f"{self.tool} has no argument {key}"
        if resolve(self.schema, self.schema).get("additionalProperties") is False or not names:
            raise _usage(problem, hint)
        say(f"warning: {problem}; {hint}")

    def _check_missing(self, values: Mapping[str, Any]) -> None:
        names = properties(self.schema, self.schema)
        missing = [name for name in required(resolve(self.schema, self.schema)) if name not in values]
        if missing:
            words = " ".join(
                f"{name}=<{describe(names.get(name, {}), self.schema)}>" for name in missing[:20]
            )
            count = "an argument" if len(missing) == 1 else f"{len(missing)} arguments"
            raise _usage(f"{self.tool} needs {count} more: {', '.join(missing[:20])}", f"add {words}")


def _usage(problem: str, fix: str | None = None) -> CommandFailed:
    return CommandFailed(ExitCode.USAGE, problem, fix)


def _split(word: str) -> _Word:
    match = _WORD.fullmatch(word)
    if match is None:
        raise _usage(f"not an argument: {word}", "write key=value, or all of them as a JSON object: '{…}'")
    try:
        word.encode()
    except UnicodeEncodeError:
        raise _usage(f"argument {match[1]!r} is not UTF-8", "read it from a file: key=@FILE") from None
    is_file = match[3].startswith("@")
    return _Word(match[1], match[3][1:] if is_file else match[3], match[2] == ":=", is_file)


def _value(word: _Word, schema: Any, root: Any) -> Any:
    if not word.is_file:
        return read_json(word.text) if word.is_json else read_value(word.text, schema, root)
    data = read_file(word.text, f"argument {word.key}")
    if word.is_json:
        return read_json(data)
    if resolve(schema, root).get("contentEncoding") == "base64":
        from base64 import b64encode

        return b64encode(data).decode()
    try:
        return read_value(data.decode(), schema, root)
    except UnicodeDecodeError:
        raise _usage(f"argument {word.key}: {word.text} is not text in UTF-8") from None


def _whole(word: str) -> dict[str, Any]:
    if word.startswith("{"):
        data: str | bytes = word
    else:
        data = read_file("-" if word == "-" else word[1:], "the arguments")
    try:
        value = read_json(data)
    except Misfit as error:
        raise _usage(f"the arguments are not {error}") from None
    if not isinstance(value, dict):
        raise _usage("the arguments are not a JSON object", 'write them as {"key": value}')
    return value


def read_file(name: str, purpose: str) -> bytes:
    """The contents of a file, or of standard input for `-`.

    Raises:
        CommandFailed: it cannot be read, or is too large.
    """
    try:
        data = _read_stdin() if name == "-" else _read_path(Path(name))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        literal = "a text that begins with @ is written key:='\"@…\"'"
        raise _usage(f"{purpose}: cannot read {name}: {reason}", literal) from None
    if len(data) > FILE_BYTES:
        raise _usage(f"{purpose}: {name} is larger than {FILE_BYTES} bytes", "pass a part of it")
    return data


def _read_stdin() -> bytes:
    return sys.stdin.buffer.read(FILE_BYTES + 1)


def _read_path(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(FILE_BYTES + 1)
