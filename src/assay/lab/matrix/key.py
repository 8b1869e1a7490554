"""What a result depends on. If nothing of it changed, a pair is not run again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from assay.lab.error import InvalidOptions
from assay.model.version import VERSION

from .definition import Matrix, Party
from .pair import Pair

MOST_FILES: Final = 5000
PIECE: Final = 1024 * 1024
LONGEST_PATH: Final = 4096


class Keys:
    """The keys of one run, which reads every file once."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._here = Path(matrix.here)
        self._digests: dict[Path, str] = {}
        self._parties: dict[tuple[int, str], list[Any]] = {}

    def key(self, pair: Pair) -> str:
        """
        Raises:
            InvalidOptions: a party names too many files.
        """
        matrix = self._matrix
        parties = (matrix.clients[pair.client], matrix.servers[pair.server])
        value = [
            VERSION,
            msgspec.to_builtins(pair),
            [(step.name, step.fields) for step in matrix.steps_of(pair)],
            [matrix.capabilities, matrix.answers, matrix.lacking_steps(pair)],
            [self._party(party, pair.transport) for party in parties],
        ]
        return sha256(msgspec.json.encode(value, order="sorted")).hexdigest()

    def _party(self, party: Party, transport: str) -> list[Any]:
        place = id(party), transport
        if place not in self._parties:
            fill = self._matrix.filled
            command = [fill(word) for word in party.command(transport)]
            environment = {name: fill(value) for name, value in party.environment.items()}
            files = self._files(command, [fill(text) for text in party.files])
            self._parties[place] = [command, environment, getattr(party, "url", ""), files]
        return self._parties[place]

    def _files(self, command: Sequence[str], globs: Sequence[str]) -> list[tuple[str, str]]:
        files = sorted({*_programs(command), *(path for text in globs for path in self._matching(text))})
        if len(files) > MOST_FILES:
            fix = "name the files that matter: a source directory, a file of pinned versions"
            raise InvalidOptions(f"{', '.join(globs)}: more than {MOST_FILES} files", fix)
        return [(str(file), self._digest(file)) for file in files]

    def _matching(self, text: str) -> Iterator[Path]:
        """The files of a glob; its part without a star may be outside of the directory of the matrix."""
        parts = (self._here / text).parts
        fixed = next((n for n, part in enumerate(parts) if "*" in part), len(parts))
        root, rest = Path(*parts[:fixed]), parts[fixed:]
        matching = root.glob("/".join(rest)) if rest else iter([root])
        return (path for path in matching if path.is_file())

    def _digest(self, file: Path) -> str:
        if file not in self._digests:
            self._digests[file] = _digest(file)
        return self._digests[file]


def _programs(command: Sequence[str]) -> Iterator[Path]:
    """The words of a command that are files: the program, and its script."""
    for word in command:
        path = shutil.which(word) if word == command[0] else word
        if path and len(path) < LONGEST_PATH and "\0" not in path and Path(path).is_file():
            yield Path(path)


def _digest(file: Path) -> str:
    digest = sha256()
    try:
        with file.open("rb") as stream:
            while data := stream.read(PIECE):
                digest.update(data)
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return digest.hexdigest()
