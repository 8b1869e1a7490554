"""Descriptions of a function and its parameters, from docstrings in Google, NumPy or Sphinx style.

The summary is the text before the first section. Only parameter sections are read: a model that chooses a
tool does not need to know what it returns or raises. Nothing here raises: text in no known style is all
summary.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

PARAMETER_TITLES: Final = frozenset(
    {"args", "arguments", "params", "parameters", "keyword args", "keyword arguments", "other parameters"}
)
OTHER_TITLES: Final = frozenset(
    {"return", "returns", "yield", "yields", "raise", "raises", "warn", "warns", "receives"}
    | {"example", "examples", "note", "notes", "warning", "warnings", "see also", "references", "todo"}
    | {"attributes", "methods"}
)
PARAMETER_FIELDS: Final = frozenset({"param", "parameter", "arg", "argument", "key", "keyword"})
OTHER_FIELDS: Final = frozenset(
    {
        "type",
        "return",
        "returns",
        "rtype",
        "yield",
        "yields",
        "ytype",
        "raise",
        "raises",
        "except",
        "exception",
    }
    | {"meta", "var", "ivar", "cvar", "vartype"}
)

UNDERLINE: Final = r"(?:-{3,}|={3,})\s*\Z"
FIELD: Final = r":(?P<field>\w+)(?P<argument>\s[^:]*)?:(?:\s+|\Z)(?P<text>.*)"
GOOGLE_ENTRY: Final = r"\*{0,2}(?P<name>\w+)\s*(?:\(.*?\))?\s*:(?:\s+|\Z)(?P<text>.*)"
NUMPY_ENTRY: Final = r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?\Z"

Reader: TypeAlias = Callable[[Sequence[str]], dict[str, str]]


@dataclass(frozen=True, slots=True)
class Documentation:
    """A function's description, and the description of each parameter that has one."""

    summary: str
    parameters: dict[str, str]


class Section(NamedTuple):
    reader: Reader
    lines: list[str]


class Heading(NamedTuple):
    reader: Reader
    lines: Sequence[str] = ()
    underlined: bool = False


class Entry(NamedTuple):
    names: list[str]
    text: str


def parse(docstring: str | None) -> Documentation:
    """Split a docstring into summary and parameter descriptions."""
    lines = inspect.cleandoc(docstring or "").split("\n")
    prose, *sections = _sections(lines)
    parameters: dict[str, str] = {}
    for section in sections:
        parameters |= section.reader(section.lines)
    return Documentation(
        "\n".join(prose.lines).strip(), {name: text for name, text in parameters.items() if text}
    )


def _sections(lines: Sequence[str]) -> list[Section]:
    sections = [Section(_read_nothing, [])]
    underline = -1
    for index, line in enumerate(lines):
        heading = _heading(line, lines[index + 1] if index + 1 < len(lines) else "")
        if heading is not None:
            sections.append(Section(heading.reader, list(heading.lines)))
            underline = index + 1 if heading.underlined else -1
        elif index != underline:
            sections[-1].lines.append(line)
    return sections


def _heading(line: str, following: str) -> Heading | None:
    """Recognise the line that starts a section; a Sphinx field is also the first line of its section."""
    title = line.rstrip().lower()
    if re.match(UNDERLINE, following) and title in PARAMETER_TITLES | OTHER_TITLES:
        return Heading(_read_numpy if title in PARAMETER_TITLES else _read_nothing, underlined=True)
    if title.endswith(":") and title[:-1] in PARAMETER_TITLES | OTHER_TITLES:
        return Heading(_read_google if title[:-1] in PARAMETER_TITLES else _read_nothing)
    field = re.match(FIELD, line)
    if field and field["field"] in PARAMETER_FIELDS | OTHER_FIELDS:
        return Heading(_read_field if field["field"] in PARAMETER_FIELDS else _read_nothing, [line])
    return None


def _read_nothing(lines: Sequence[str]) -> dict[str, str]:
    return {}


def _read_field(lines: Sequence[str]) -> dict[str, str]:
    """Read one `:param type name: text` field and its indented continuation."""
    field = re.match(FIELD, lines[0])
    if field is None or not (field["argument"] or "").strip():
        return {}
    name = field["argument"].split()[-1].lstrip("*")
    return {name: _join([field["text"], *_indented(lines[1:])])}


def _read_google(lines: Sequence[str]) -> dict[str, str]:
    # If the title is the first line of the docstring, dedenting has removed the indentation of its entries.
    body = list(_indented(lines)) or list(itertools.takewhile(str.strip, lines))
    return _read_entries(inspect.cleandoc("\n" + "\n".join(body)).split("\n"), _open_google)


def _read_numpy(lines: Sequence[str]) -> dict[str, str]:
    return _read_entries(lines, _open_numpy)


def _open_google(line: str) -> Entry | None:
    entry = re.match(GOOGLE_ENTRY, line)
    return Entry([entry["name"]], entry["text"]) if entry else None


def _open_numpy(line: str) -> Entry | None:
    entry = re.match(NUMPY_ENTRY, line)
    return Entry([name.strip().lstrip("*") for name in entry["names"].split(",")], "") if entry else None


def _read_entries(lines: Sequence[str], open_entry: Callable[[str], Entry | None]) -> dict[str, str]:
    """Collect entries that start at the margin; any other line continues the previous entry."""
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        entry = None if line[:1].isspace() else open_entry(line)
        if entry:
            names = entry.names
            texts |= {name: [] for name in names}
        for name in names:
            texts[name].append(entry.text if entry else line)
    return {name: _join(pieces) for name, pieces in texts.items()}


def _indented(lines: Sequence[str]) -> Iterator[str]:
    return itertools.takewhile(lambda line: not line.strip() or line[0].isspace(), lines)


def _join(pieces: Iterable[str]) -> str:
    return " ".join(piece.strip() for piece in pieces if piece.strip())
