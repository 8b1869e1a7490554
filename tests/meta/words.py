"""How the project reads: marker words per 1,000 words, and placeholder names among bindings.

`python -m tests.meta.words PATH…` lists the places. The lists come from a review of the source against httpx,
starlette, h11 and uvicorn, where both measures are near zero.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

MARKERS = re.compile(
    r"\b(?:"
    r"whoever|nobody|no one|whatever is|told|tells|heeds?|stands (?:before|around|beside|in|for)|"
    r"is no|are no|mends?|lets in|one's|who (?:shows|was|has|is)|what may|of its own|its kin|now and then|"
    r"is said|said of|makes up|goes on|so much|as good|at hand|of which nothing|thereby|thereof"
    r")\b",
    re.IGNORECASE,
)
PLACEHOLDERS = frozenset(
    {
        *("one", "found", "told", "given", "said", "wanted", "heard"),
        *("seen", "made", "kept", "shown", "asked", "what", "who"),
    }
)
MOST_MARKERS = 2.0
"""Per 1,000 words."""
MOST_PLACEHOLDERS = 0.01
"""Of all bindings."""
WORD = re.compile(r"[A-Za-z][\w'-]*")


class Text(NamedTuple):
    """A piece of prose, and the line where it begins."""

    line: int
    text: str


class Density(NamedTuple):
    words: int
    markers: int

    @property
    def per_thousand(self) -> float:
        return 1000 * self.markers / self.words if self.words else 0.0


class Share(NamedTuple):
    bindings: int
    placeholders: int

    @property
    def fraction(self) -> float:
        return self.placeholders / self.bindings if self.bindings else 0.0


def density(texts: Iterable[str]) -> Density:
    words = markers = 0
    for text in texts:
        words += len(WORD.findall(text))
        markers += len(MARKERS.findall(text))
    return Density(words, markers)


def documentation(source: str) -> Iterator[Text]:
    """Comments and docstrings, those of attributes included."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(token.start[0], token.string)
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield Text(node.lineno, text)


def messages(source: str) -> Iterator[Text]:
    """String literals of two words or more: titles, findings, errors, help."""
    tree = ast.parse(source)
    documented = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documented:
            continue
        if isinstance(node.value, str) and len(WORD.findall(node.value)) > 1:
            yield Text(node.lineno, node.value)


def statements(source: str) -> Iterator[Text]:
    """The sentences in a TOML file: comments, and strings of two words or more."""
    for number, line in enumerate(source.splitlines(), 1):
        if line.startswith("#"):
            yield Text(number, line)
    for table in tomllib.loads(source).values():
        for value in table.values() if isinstance(table, dict) else ():
            if isinstance(value, str) and len(WORD.findall(value)) > 1:
                number = source[: source.find(value[:40])].count("\n") + 1
                yield Text(number, value)


def names(source: str) -> Iterator[tuple[int, str]]:
    """Every name that the source binds: variables, parameters, functions, classes, fields."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def is_placeholder(name: str) -> bool:
    return name.strip("_").lower() in PLACEHOLDERS


def share(sources: Iterable[str]) -> Share:
    bound = [name for source in sources for _, name in names(source)]
    return Share(len(bound), sum(map(is_placeholder, bound)))


def _files(paths: Iterable[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        yield from sorted(path.rglob("*.*")) if path.is_dir() else [path]


def _texts(path: Path, source: str) -> Iterator[Text]:
    if path.suffix == ".py":
        yield from documentation(source)
        yield from messages(source)
    elif path.suffix == ".toml":
        yield from statements(source)
    elif path.suffix == ".md":
        yield from (Text(number, line) for number, line in enumerate(source.splitlines(), 1))


def main(paths: list[str]) -> int:
    prose: list[str] = []
    code: list[str] = []
    for path in _files(paths):
        if path.suffix not in (".py", ".toml", ".md"):
            continue
        source = path.read_text("utf-8")
        for line, text in _texts(path, source):
            prose.append(text)
            for marker in MARKERS.finditer(text):
                breaks = text[: marker.start()].count("\n")
                sentence = text.splitlines()[breaks].strip()
                print(f"{path}:{line + breaks}: {marker[0]!r} in: {sentence}")
        if path.suffix == ".py":
            code.append(source)
            for line, name in names(source):
                if is_placeholder(name):
                    print(f"{path}:{line}: the name {name!r}")
    found, bound = density(prose), share(code)
    print(f"{found.markers} markers in {found.words} words: {found.per_thousand:.2f} per 1,000")
    print(f"{bound.placeholders} placeholders of {bound.bindings} bindings: {bound.fraction:.2%}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
