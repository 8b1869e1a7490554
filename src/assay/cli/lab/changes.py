"""What changes in the files that `--watch` names, without what editors, Python and the lab leave there."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from watchfiles import Change, DefaultFilter, awatch

from assay.cli.exit_code import CommandFailed, ExitCode

QUIET: Final = 100
"""Milliseconds without a change that end a burst: editors and formatters write a file several times."""
SHOWN: Final = 3
FOLDERS: Final = frozenset({*DefaultFilter.ignore_dirs, ".ruff_cache", ".cache", ".eggs"})
DROPPINGS: Final = re.compile(
    "|".join((*DefaultFilter.ignore_entity_patterns, r"^4913$", r"^#.*#$", r"\.tmp$", r"^\.goutputstream-"))
)


class Changes:
    """Bursts of changes, one after the other."""

    def __init__(self, paths: Sequence[Path], ignored: Path) -> None:
        """`ignored` is where the lab itself writes."""
        self._paths = [path.resolve() for path in paths]
        self._ignored = ignored.resolve()
        self._found: asyncio.Queue[set[str]] = asyncio.Queue()

    def follow(self, group: asyncio.TaskGroup) -> None:
        """Watch for as long as the group lives."""
        folders = [path for path in self._paths if path.is_dir()]
        # Editors put a new file in the place of the old one: only its folder gets to know.
        homes = {path.parent for path in self._paths if path not in folders}
        for places, recursive in ((folders, True), (sorted(homes), False)):
            if places:
                group.create_task(self._watch(places, recursive))

    async def _watch(self, places: Iterable[Path], recursive: bool) -> None:
        stopped = asyncio.Event()
        noting = asyncio.create_task(self._note(places, recursive, stopped))
        try:
            await asyncio.shield(noting)
        finally:
            # A thread looks for changes: unless it is told and waited for, it keeps the process from ending.
            stopped.set()
            await asyncio.wait({noting})

    async def _note(self, places: Iterable[Path], recursive: bool, stopped: asyncio.Event) -> None:
        bursts = awatch(
            *places,
            watch_filter=self.is_meant,
            step=QUIET,
            recursive=recursive,
            ignore_permission_denied=True,
            stop_event=stopped,
        )
        try:
            async for burst in bursts:
                self._found.put_nowait({path for _, path in burst})
        except OSError as error:
            problem = f"cannot watch {', '.join(map(str, places))}: {error}"
            raise CommandFailed(ExitCode.INCOMPLETE, problem, "name fewer files with --watch") from error

    def is_meant(self, change: Change, path: str) -> bool:
        where = Path(path)
        root = next((root for root in self._paths if where.is_relative_to(root)), None)
        if root is None or where.is_relative_to(self._ignored) or is_our_output(path):
            return False
        inside = where.relative_to(root).parts
        return not (FOLDERS.intersection(inside) or (inside and DROPPINGS.search(inside[-1])))

    def forget(self) -> None:
        """Whatever begins now has seen these."""
        while not self._found.empty():
            self._found.get_nowait()

    async def next(self) -> str:
        """Wait for a burst, and name what changed."""
        return named(await self._found.get())


def is_our_output(path: str) -> bool:
    """Whether what we print goes there, as in `assay server … --watch . > log`."""
    try:
        found = os.stat(path)
        return any(os.path.samestat(found, os.fstat(stream)) for stream in (1, 2))
    except OSError:
        return False


def named(paths: Iterable[str]) -> str:
    names = sorted(map(os.path.relpath, paths))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
