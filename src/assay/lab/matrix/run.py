"""A matrix in progress: `run_matrix` waits for it, `follow_matrix` shows it as it goes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.error import InvalidOptions
from assay.lab.extra import require_tokens
from assay.lab.harness.run.recording import now
from assay.lab.harness.trace.shape import prepare
from assay.lab.live import Live
from assay.lab.suites import suite_named
from assay.model.version import VERSION

from .definition import Matrix, read_matrix
from .judgement import SUITES
from .key import Keys
from .options import MatrixOptions
from .pair import Pair, PairResult, Status
from .pair_run import run_pair
from .store import Store

DEFAULTS: Final = MatrixOptions()


class PairsPlanned(Struct, frozen=True):
    run: int
    """Pairs that will be run."""
    reused: int
    """Pairs whose stored results are used."""


class PairFinished(Struct, frozen=True):
    result: PairResult


MatrixEvent = PairsPlanned | PairFinished
Watch = Callable[[MatrixEvent], None]


class MatrixResult(Struct, frozen=True):
    matrix: Matrix
    results: dict[Pair, PairResult]
    """In the order of the file. A pair that was neither run nor stored is missing."""
    ran: int
    reused: int
    started: str
    assay: str = VERSION
    interrupted: bool = False
    page: Path | None = None
    """Where the page is stored."""


class LiveMatrix(Live[MatrixEvent, MatrixResult]):
    def __init__(self, file: Path | Matrix, options: MatrixOptions) -> None:
        """
        Raises:
            InvalidOptions: the file cannot be used, or the options select nothing.
        """
        super().__init__(self._conduct)
        matrix = read_matrix(file) if isinstance(file, Path) else file
        if options.timeout is not None:
            matrix = msgspec.structs.replace(matrix, timeout=options.timeout)
        self._matrix = matrix
        self._options = options
        self._store = Store(options.output)
        self._selected = _selected(matrix, options)
        self._keys = Keys(matrix)

    async def _conduct(self, watch: Watch) -> MatrixResult:
        results, due = self._known()
        reused = sum(pair in results for pair in self._selected)
        watch(PairsPlanned(len(due), reused))
        started, ran = now(), 0
        interrupted = False

        def finished(result: PairResult) -> None:
            nonlocal ran
            ran += 1
            results[result.pair] = result
            watch(PairFinished(result))

        try:
            await self._run_all(due, finished)
        except asyncio.CancelledError:
            interrupted = True
        ordered = {pair: results[pair] for pair in self._matrix.pairs() if pair in results}
        result = MatrixResult(self._matrix, ordered, ran, reused, started, interrupted=interrupted)
        return self._stored(result)

    def _known(self) -> tuple[dict[Pair, PairResult], list[Pair]]:
        """The stored results that are still true, and the pairs to run."""
        results: dict[Pair, PairResult] = {}
        due = []
        for pair in self._matrix.pairs():
            stored = self._store.read(pair)
            is_true = stored is not None and stored.key == self._keys.key(pair)
            is_selected = pair in self._selected
            again = self._options.force or (stored is not None and stored.status is Status.NOT_RUN)
            if stored is not None and is_true and not (is_selected and again):
                results[pair] = stored
            elif is_selected:
                due.append(pair)
        return results, due

    async def _run_all(self, due: list[Pair], finished: Callable[[PairResult], None]) -> None:
        if due:
            prepare()
            for name in SUITES.values():
                suite_named(name)
        slots = asyncio.Semaphore(self._options.jobs or os.cpu_count() or 1)

        async def run(pair: Pair) -> None:
            async with slots:
                result, trace = await run_pair(self._matrix, pair)
            result = msgspec.structs.replace(result, key=self._keys.key(pair))
            finished(self._store.write(result, trace))

        try:
            async with asyncio.TaskGroup() as group:
                for pair in due:
                    group.create_task(run(pair))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors

    def _stored(self, result: MatrixResult) -> MatrixResult:
        from assay.lab.matrix.page.page import render

        self._store.write_results(list(result.results.values()))
        page = self._store.write_page(render(result, self._store.directory))
        return msgspec.structs.replace(result, page=page)


def _selected(matrix: Matrix, options: MatrixOptions) -> set[Pair]:
    patterns = {
        "client": options.client,
        "server": options.server,
        "transport": options.transport,
        "revision": options.spec_version,
    }
    selected = {
        pair
        for pair in matrix.pairs()
        if all(
            not globs or any(fnmatchcase(getattr(pair, field), glob) for glob in globs)
            for field, globs in patterns.items()
        )
    }
    if not selected:
        fix = f"clients: {', '.join(matrix.clients)}; servers: {', '.join(matrix.servers)}"
        raise InvalidOptions("no pair of client and server is selected", fix)
    return selected


def follow_matrix(file: Path | Matrix, options: MatrixOptions = DEFAULTS) -> LiveMatrix:
    """Run a matrix, and follow its events.

    Raises:
        InvalidOptions: the file cannot be used, or the options select nothing. Nothing has been started then.
        MissingExtra: a library of the lab is not installed.
    """
    require_tokens()
    return LiveMatrix(file, options)


async def run_matrix(file: Path | Matrix, options: MatrixOptions = DEFAULTS) -> MatrixResult:
    """Run a matrix, and return what came of it.

    Raises:
        LabError: nothing was run, or results cannot be stored.
        MissingExtra: a library of the lab is not installed.
    """
    return await follow_matrix(file, options).wait()
