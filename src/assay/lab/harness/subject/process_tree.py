"""A process and its descendants, as the kernel reports them in /proc."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")


def process_tree(process_id: int, proc: Path = PROC) -> Iterator[int]:
    """The process, and all that it has started."""
    yield process_id
    for child in _children(proc / str(process_id)):
        yield from process_tree(child, proc)


def resident_of(home: Path) -> int:
    """Resident bytes of the process with this directory.

    Raises:
        OSError: it is not there.
    """
    for line in (home / "status").read_text("utf-8", "replace").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def resident(process_id: int, proc: Path = PROC) -> int | None:
    """Resident bytes of a process and its descendants; None if the kernel does not report them."""
    first, *others = process_tree(process_id, proc)
    try:
        total = resident_of(proc / str(first))
    except OSError:
        return None
    for number in others:
        try:
            total += resident_of(proc / str(number))
        except OSError:
            continue
    return total


def _children(home: Path) -> list[int]:
    try:
        threads = list((home / "task").iterdir())
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return []
