"""Targets: which server a command is for, and how it is reached. All commands share this rule."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from assay.model.error import InvalidTarget

BUNDLED: Final = ("everything", "reference")
"""The servers in `assay.bundled`."""
_PYTHON: Final = re.compile(r".+\.py(:[^\W\d]\w*)?")
_MODULE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_NAMED: Final = re.compile(rf"({_MODULE.pattern}):[^\W\d]\w*")
_HOST_AND_PORT: Final = re.compile(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}(/\S*)?")
_HOST_AND_PATH: Final = re.compile(r"[\w-]+(\.[\w-]+)+/\S*")
_ASSIGNMENT: Final = re.compile(r"[^\W\d]\w*=.*", re.DOTALL)
_INTERPRETERS: Final = {
    ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "npx tsx", ".rb": "ruby", ".sh": "sh",
    ".jar": "java -jar", ".go": "go run", ".php": "php", ".dll": "dotnet",
}  # fmt: skip
_FORMS: Final = (
    "write a URL (http://…), a Python server (server.py[:name] or module:name), a bundled server "
    f"({' or '.join(BUNDLED)}), or a command after --"
)


class Url(NamedTuple):
    url: str
    command: tuple[str, ...] = ()
    """Started first, if there is one."""


class Command(NamedTuple):
    """A program that serves on its standard streams."""

    words: tuple[str, ...]


class Served(NamedTuple):
    """A Python server or a bundled one, which `assay serve` serves in a separate process."""

    name: str
    options: tuple[str, ...] = ()
    """Options of `assay serve`."""
    environment: Mapping[str, str] = MappingProxyType({})
    """Further variables of the process."""


Target = Url | Command | Served


def parse_target(text: str) -> Target:
    """Tell a URL, a Python server and a command apart. The first rule that fits decides:

    1. `scheme://…` is a URL. The whole text is a file if there is one of that name, spaces and quotes
       included.
    2. A first word that is a bundled server, ends in `.py` or `.py:name`, or reads `module:name` is served
       with `assay serve`; the words after it are options of that command.
    3. Several words are a command line. No shell runs it.
    4. One word is a program if it is on the PATH or an executable file, else a Python module.

    Raises:
        InvalidTarget: nothing fits, or the file or module does not exist.
    """
    if "://" in text.partition(" ")[0]:
        return Url(text)
    words = (text,) if _is_odd_file(text) else parse_command(text)
    if words[0] in BUNDLED or _PYTHON.fullmatch(words[0]) or _NAMED.fullmatch(words[0]):
        _check_exists(words[0])
        return Served(words[0], words[1:])
    return Command(words) if len(words) > 1 or _is_program(words[0]) else _module(words[0])


def _is_odd_file(text: str) -> bool:
    """Whether it is the path of a file that a shell would read as something else."""
    return any(character in text for character in " '\"\\") and _path_of(text).is_file()


def _path_of(name: str) -> Path:
    return Path(re.sub(r"(\.py):\w+$", r"\1", name))


def _is_program(word: str) -> bool:
    from shutil import which  # not at the top: it loads three compression libraries

    return which(word) is not None


def parse_command(line: str) -> tuple[str, ...]:
    """Split a command line as a shell would.

    Raises:
        InvalidTarget: a quote is not closed, it is empty, or it begins with an assignment.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise InvalidTarget(f"cannot read the command: {error}", "close the quote") from error
    if not words:
        raise InvalidTarget("the command is empty", "write a program and its arguments")
    if _ASSIGNMENT.fullmatch(words[0]):
        problem = f"the command begins with an assignment, {words[0]}, and no shell runs it"
        raise InvalidTarget(problem, f"write: env {line.strip()}")
    return tuple(words)


def _check_exists(name: str) -> None:
    if _PYTHON.fullmatch(name):
        path = _path_of(name)
        if not path.is_file():
            problem = "is a directory" if path.is_dir() else "no such file"
            raise InvalidTarget(f"{problem}: {path}", "give the path of a Python file")
    elif name not in BUNDLED:
        _check_module(name.partition(":")[0])


def _module(word: str) -> Served:
    path = Path(word)
    if _HOST_AND_PORT.fullmatch(word):
        raise InvalidTarget(f"{word} is not a URL: its scheme is missing", f"write http://{word}")
    if path.is_dir() and not (_MODULE.fullmatch(word) and (path / "__init__.py").exists()):
        raise InvalidTarget(f"{word} is a directory", "give the server's file, or its command after --")
    if path.is_file():
        runner = _INTERPRETERS.get(path.suffix, "interpreter")
        fix = f"give its command: -- {runner} {word}"
        raise InvalidTarget(f"{word} is not a Python file, nor executable", fix)
    if not _MODULE.fullmatch(word):
        fix = f"write http://{word} for a server on the network" if _HOST_AND_PATH.fullmatch(word) else _FORMS
        raise InvalidTarget(f"{word} is not a URL, a file or a program", fix)
    _check_module(word)
    return Served(word)


def _check_module(name: str) -> None:
    """Nothing is imported here: only the first package of the name is looked for."""
    from difflib import get_close_matches
    from importlib.machinery import PathFinder

    package = name.partition(".")[0]
    if package not in sys.builtin_module_names and not PathFinder.find_spec(
        package, [os.getcwd(), *sys.path]
    ):
        alike = get_close_matches(name, BUNDLED, n=1)
        fix = f"did you mean {alike[0]}?" if alike else _FORMS
        raise InvalidTarget(f"no module or program is named {package}", fix)
