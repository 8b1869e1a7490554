"""Values in earlier results, by the name of their field: an id that a list returned fits a tool that asks for
an id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from .plausible import words_of

MOST_NAMES: Final = 500
MOST_VALUES: Final = 5
"""Of one name."""
LONGEST: Final = 200
DEEPEST: Final = 6
LARGEST: Final = 200_000
"""Characters of a text that is searched."""
_PATH: Final = re.compile(r"(?<![\w:/])/[\w.@+-]+(?:/[\w.@+-]+)*")
_LINK: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>)\]]+")
_FIELD: Final = re.compile(r"^\W*(\w[\w ]{0,30}?)[ \t]*[:=][ \t]*[`\"']?([\w./:@+-]{1,120})", re.MULTILINE)
_REPR: Final = re.compile(r"'(\w{1,40})': (?:'([^'\n]{1,120})'|(\d{1,15}))")
"""Fields of values in the notation of Python."""
_FILE: Final = re.compile(r"(?<![\w/.-])[\w-]{1,80}\.[A-Za-z][A-Za-z0-9]{0,4}\b")
_FILE_IN_FOLDER: Final = "file in a folder"
"""The name for files that exist, which a tool that changes files does not get."""
_FILE_WORDS: Final = frozenset({"file", "filename", "filepath", "path"})
# Names of arguments that ask for the same thing under another name.
_SAME: Final = {
    "path": ("path", "directory", "file"),
    "file": ("file", "path"),
    "file path": ("path", "file"),
    "directory": ("directory", "path"),
    "folder": ("directory", "path"),
    "dir": ("directory", "path"),
    "url": ("url", "uri", "link"),
    "uri": ("uri", "url"),
}


class KnownValues:
    def __init__(self) -> None:
        self._values: dict[str, list[Any]] = {}

    def add(self, name: str, value: Any, about: str = "") -> None:
        """Note a value. The id in a result about users is also a `user id`."""
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
            return
        if isinstance(value, str) and (len(value) > LONGEST or not value.isprintable()):
            return
        words = words_of(name)
        names = [
            words,
            *(f"{topic} {words}" for topic in topics(about)),
            *([words[:-1]] if words.endswith("s") else []),
        ]
        for each in names:
            if each in self._values or len(self._values) < MOST_NAMES:
                values = self._values.setdefault(each, [])
                if value not in values and len(values) < MOST_VALUES:
                    values.append(value)

    def learn(
        self, result: dict[str, Any], about: str = "", arguments: Mapping[str, Any] | None = None
    ) -> None:
        """Note the values in the result of a tool of this name."""
        folders = [value for value in (arguments or {}).values() if _is_path(value)]
        self._walk(result.get("structuredContent"), "", about, 0)
        content = result.get("content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict):
                self.add("uri", block.get("uri"), about)
                self._read(block.get("text"), about)
                self._read_files(block.get("text"), folders)

    def _read(self, text: Any, about: str) -> None:
        if not isinstance(text, str) or len(text) > LARGEST:
            return
        try:
            self._walk(msgspec.json.decode(text), "", about, 0)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            for pattern, name in ((_PATH, "path"), (_LINK, "url")):
                for match in list(pattern.finditer(text))[:MOST_VALUES]:
                    self.add(name, match[0], about)
            for match in list(_FIELD.finditer(text))[:50]:
                self.add(match[1], match[2], about)
            for match in list(_REPR.finditer(text))[:50]:
                self.add(match[1], match[2] if match[3] is None else int(match[3]), about)

    def _read_files(self, text: Any, folders: list[str]) -> None:
        """Note the files in the listing of a folder."""
        for folder in folders if isinstance(text, str) and len(text) <= LARGEST else ():
            for match in list(_FILE.finditer(text))[:MOST_VALUES]:
                self.add(_FILE_IN_FOLDER, f"{folder.rstrip('/')}/{match[0]}")

    def _walk(self, value: Any, name: str, about: str, depth: int) -> None:
        if depth > DEEPEST:
            return
        if isinstance(value, dict):
            for key, part in list(value.items())[:100]:
                self._walk(part, str(key), about or name, depth + 1)
        elif isinstance(value, list):
            for part in value[:MOST_VALUES]:
                self._walk(part, name, about, depth + 1)
        elif name:
            self.add(name, value, about)

    def fitting(self, name: str, kind: type | tuple[type, ...], about: str = "") -> list[Any]:
        """Values for an argument of a tool: of the same name, else of its last word, as `id` for `user id`.

        In a tool about users, `id` is the `user id`. A path in a tool about files is that of a file.
        """
        words = words_of(name)
        last = words.rpartition(" ")[2]
        narrower = [f"{topic} {words}" for topic in topics(about)]
        if last in _FILE_WORDS and "file" in (*topics(about), *words.split()[:-1]) and about:
            narrower.insert(0, _FILE_IN_FOLDER)
        names = [*narrower, words, *_SAME.get(words, ()), last, *_SAME.get(last, ())]
        values = [value for each in dict.fromkeys(names) for value in self._values.get(each, ())]
        return [value for value in dict.fromkeys(values) if isinstance(value, kind)][:MOST_VALUES]


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and _PATH.fullmatch(value) is not None


def topics(tool: str) -> Iterator[str]:
    """`users` and `user` for `list_users`."""
    for word in words_of(tool).split():
        if len(word) > 2:
            yield word
            if word.endswith("s"):
                yield word[:-1]
