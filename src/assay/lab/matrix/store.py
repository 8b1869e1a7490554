"""Results on disk, one file for each pair, so that an interrupted run keeps what was done.

<directory>/
  index.html                                   the page
  matrix.json                                  all results
  pairs/<client>_<server>_<transport>_<revision>.json
  pairs/<…>.server.ndjson, <…>.client.ndjson   the traffic, as `assay judge` reads it for either side
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from assay.lab.error import CannotStore
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.trace.regular_file import UnfitFile, read_regular
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.view import client_view

from .pair import Pair, PairResult

PAGE: Final = "index.html"
RESULTS: Final = "matrix.json"
PAIRS: Final = "pairs"
LARGEST: Final = 4 * 1024 * 1024


class Store:
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def read(self, pair: Pair) -> PairResult | None:
        """The stored result of a pair; None if there is none that can be used."""
        try:
            data = read_regular(self._path(pair, ".json"), LARGEST)
            result = msgspec.json.decode(data, type=PairResult)
        except (OSError, UnfitFile, msgspec.DecodeError, UnicodeDecodeError):
            return None
        names = (name for name in (result.trace, result.client_trace) if name)
        is_usable = result.pair == pair and all(self._has(name, pair) for name in names)
        return result if is_usable else None

    def _has(self, name: str, pair: Pair) -> bool:
        """Whether it is a trace of this pair that is still there: the file could name any other."""
        return (
            name.startswith(f"{PAIRS}/{pair.id}.")
            and "/" not in name[len(PAIRS) + 1 :]
            and (self.directory / name).is_file()
        )

    def write(self, result: PairResult, trace: Trace | None) -> PairResult:
        """Store a result, with the names of its traces.

        Raises:
            CannotStore: a file cannot be written.
        """
        pair = result.pair
        if trace is not None:
            names = {side: f"{PAIRS}/{pair.id}.{side}.ndjson" for side in ("server", "client")}
            self._write(self.directory / names["server"], dump_trace(trace))
            self._write(self.directory / names["client"], dump_trace(client_view(trace, pair.client)))
            result = msgspec.structs.replace(result, trace=names["server"], client_trace=names["client"])
        self._write(self._path(pair, ".json"), _pretty(result))
        return result

    def write_results(self, results: Sequence[PairResult]) -> Path:
        path = self.directory / RESULTS
        self._write(path, _pretty(results))
        return path

    def write_page(self, page: str) -> Path:
        path = self.directory / PAGE
        self._write(path, page.encode())
        return path

    def _path(self, pair: Pair, suffix: str) -> Path:
        return self.directory / PAIRS / f"{pair.id}{suffix}"

    def _write(self, path: Path, data: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            problem = f"cannot store results in {path}: {error.strerror}"
            raise CannotStore(problem, "name another directory with --output") from error


def _pretty(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
