"""Changes in watched files, without those that editors, Python and the lab itself make."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from watchfiles import Change, DefaultFilter, awatch

from .error import CannotJudge, InvalidOptions

QUIET: Final = 100
"""Milliseconds without a change that end a burst: editors and formatters write a file several times."""
NAMED: Final = 3
FOLDERS: Final = frozenset({*DefaultFilter.ignore_dirs, ".ruff_cache", ".cache", ".eggs"})
TEMPORARY: Final = re.compile(
    "|".join((*DefaultFilter.ignore_entity_patterns, r"^4913$", r"^#.*#$", r"\.tmp$", r"^\.goutputstream-"))
)


class Changes:
    """Bursts of changes, one after the other."""

    def __init__(self, paths: Sequence[Path], ignored: Path | None = None) -> None:
        """`ignored` is the directory that results are written to.

        Raises:
            InvalidOptions: a path does not exist.
        """
        for path in paths:
            if not path.exists():
                raise InvalidOptions(f"nothing to watch at {path}", "--watch takes a file or a directory")
        self._paths = [path.resolve() for path in paths]
        self._ignored = None if ignored is None else ignored.resolve()
        self._bursts: asyncio.Queue[set[str]] = asyncio.Queue()

    def follow(self, group: asyncio.TaskGroup) -> None:
        """Watch for as long as the group lives."""
        folders = [path for path in self._paths if path.is_dir()]
        # Editors replace a file by a new one: only its folder is notified of that.
        parents = {path.parent for path in self._paths if path not in folders}
        for places, recursive in ((folders, True), (sorted(parents), False)):
            if places:
                group.create_task(self._watch(places, recursive))

    async def _watch(self, places: Iterable[Path], recursive: bool) -> None:
        stopped = asyncio.Event()
        collector = asyncio.create_task(self._collect(places, recursive, stopped))
        try:
            await asyncio.shield(collector)
        finally:
            # A thread waits for changes: unless it is stopped, it keeps the process from ending.
            stopped.set()
            await asyncio.wait({collector})

    async def _collect(self, places: Iterable[Path], recursive: bool, stopped: asyncio.Event) -> None:
        bursts = awatch(
            *places,
            watch_filter=self.is_relevant,
            step=QUIET,
            recursive=recursive,
            ignore_permission_denied=True,
            stop_event=stopped,
        )
        try:
            async for burst in bursts:
                self._bursts.put_nowait({path for _, path in burst})
        except OSError as error:
            problem = f"cannot watch {', '.join(map(str, places))}: {error}"
            raise CannotJudge(problem, "name fewer files with --watch") from error

    def is_relevant(self, change: Change, path: str) -> bool:
        where = Path(path)
        root = next((root for root in self._paths if where.is_relative_to(root)), None)
        if root is None or self._is_ignored(where) or is_our_output(path):
            return False
        inside = where.relative_to(root).parts
        return not (FOLDERS.intersection(inside) or (inside and TEMPORARY.search(inside[-1])))

    def _is_ignored(self, path: Path) -> bool:
        return self._ignored is not None and path.is_relative_to(self._ignored)

    def forget(self) -> None:
        """Drop the changes until now: the run that starts next includes them."""
        while not self._bursts.empty():
            self._bursts.get_nowait()

    async def next(self) -> str:
        """Wait for a burst, and name the files that changed."""
        return named(await self._bursts.get())


def is_our_output(path: str) -> bool:
    """Whether our standard streams are redirected to this file, as in `assay check … --watch . > log`."""
    try:
        status = os.stat(path)
        return any(os.path.samestat(status, os.fstat(stream)) for stream in (1, 2))
    except OSError:
        return False


def named(paths: Iterable[str]) -> str:
    names = sorted(map(os.path.relpath, paths))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"
