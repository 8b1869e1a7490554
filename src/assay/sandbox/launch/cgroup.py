"""Limits for all processes of a sandbox together, by cgroup: version 2, else version 1.

The new group lies below a group of the caller, so the limits of the caller hold as well. Controllers are used
where they are, never switched on: that would change the groups of other programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from .plan import Limits

NEEDED: Final = frozenset({"memory", "pids"})
PREFIX: Final = "assay-"
PERIOD: Final = 100_000
"""Microseconds over which the share of the processors is enforced."""


class Place(NamedTuple):
    """Where a group may be made, and what it would limit."""

    version: int
    parents: Mapping[str, Path]
    """By controller. In version 2 they are all the same directory."""

    @property
    def text(self) -> str:
        return f"v{self.version} {' '.join(sorted(self.parents))}"


def find_place(mounts: str, groups: str) -> Place | None:
    """The best place, by the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`; None if there is
    none."""
    return _unified(mounts, groups) or _separate(mounts, groups)


def this_place() -> Place | None:
    try:
        mounts, groups = Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text()
    except OSError:
        return None
    return find_place(mounts, groups)


def _mounted(mounts: str, kind: str) -> Iterator[tuple[str, Path, set[str]]]:
    """Root within the hierarchy, mount point and options of each mounted hierarchy."""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields, (found_kind, _, options) = left.split(), right.split(" ", 2)
        if found_kind == kind:
            yield fields[3], Path(fields[4]), set(options.split(","))


def _own(groups: str) -> Iterator[tuple[set[str], str]]:
    """Controllers and path of each group of this process; no controllers in version 2."""
    for line in groups.splitlines():
        _, names, path = line.split(":", 2)
        yield set(filter(None, names.split(","))), path


def _inside(root: str, point: Path, path: str) -> Path:
    """The directory of a group. In a container, the hierarchy may be mounted from a group above."""
    relative = os.path.relpath(path, root)
    return point if relative.startswith("..") else point / relative


def _unified(mounts: str, groups: str) -> Place | None:
    path = next((path for names, path in _own(groups) if not names), None)
    for root, point, _ in _mounted(mounts, "cgroup2"):
        if path is None:
            break
        own = _inside(root, point, path)
        # A group with processes cannot hand controllers down, so one of its parents has to.
        for directory in (own, *own.parents):
            available = _read_words(directory / "cgroup.subtree_control")
            if available >= NEEDED and os.access(directory, os.W_OK):
                names = (*NEEDED, "cpu") if "cpu" in available else NEEDED
                return Place(2, dict.fromkeys(sorted(names), directory))
            if directory == point:
                break
    return None


def _read_words(path: Path) -> set[str]:
    try:
        return set(path.read_text().split())
    except OSError:
        return set()


def _separate(mounts: str, groups: str) -> Place | None:
    own = {name: path for names, path in _own(groups) for name in names}
    parents = {
        name: _inside(root, point, own[name])
        for root, point, options in _mounted(mounts, "cgroup")
        for name in sorted(options & {*NEEDED, "cpu"} & own.keys())
    }
    usable = {name: path for name, path in parents.items() if os.access(path, os.W_OK)}
    return Place(1, usable) if usable.keys() >= NEEDED else None


class Group:
    """A group of one sandbox. Its name has the id of the process that removes it."""

    def __init__(self, place: Place, limits: Limits) -> None:
        """
        Raises:
            OSError: it cannot be made, or a limit cannot be set.
        """
        self._place = place
        self._directories = {name: path / f"{PREFIX}{os.getpid()}" for name, path in place.parents.items()}
        try:
            for directory in dict.fromkeys(self._directories.values()):
                remove_abandoned(directory.parent)
                directory.mkdir()
            for controller, file, value, is_needed in settings(place.version, limits):
                if controller in self._directories:
                    self._write(controller, file, value, is_needed=is_needed)
        except OSError:
            self.remove()
            raise

    def _write(self, controller: str, file: str, value: str, *, is_needed: bool) -> None:
        try:
            (self._directories[controller] / file).write_text(value)
        except OSError:
            if is_needed:
                raise

    def add(self, process: int) -> None:
        for directory in dict.fromkeys(self._directories.values()):
            (directory / "cgroup.procs").write_text(str(process))

    @property
    def ran_out_of_memory(self) -> bool:
        file = "memory.events" if self._place.version == 2 else "memory.oom_control"
        try:
            lines = (self._directories["memory"] / file).read_text().splitlines()
        except OSError:
            return False
        return any(line.startswith("oom_kill ") and not line.endswith(" 0") for line in lines)

    def kill(self) -> None:
        """Kill what is left in the group; needed only where there is no namespace for process ids."""
        for process in _read_words(self._directories["pids"] / "cgroup.procs"):
            with suppress(OSError):
                os.kill(int(process), 9)

    def remove(self) -> None:
        for directory in self._directories.values():
            with suppress(OSError):
                directory.rmdir()


def settings(version: int, limits: Limits) -> Iterable[tuple[str, str, str, bool]]:
    """Controller, file, value, and whether the limit is needed."""
    memory, processes, quota = str(limits.memory), str(limits.processes), int(limits.cores * PERIOD)
    if version == 2:
        yield "memory", "memory.max", memory, True
        yield "memory", "memory.swap.max", "0", False
        yield "pids", "pids.max", processes, True
        yield "cpu", "cpu.max", f"{quota} {PERIOD}", False
        return
    yield "memory", "memory.limit_in_bytes", memory, True
    yield "memory", "memory.memsw.limit_in_bytes", memory, False
    yield "pids", "pids.max", processes, True
    yield "cpu", "cpu.cfs_period_us", str(PERIOD), False
    yield "cpu", "cpu.cfs_quota_us", str(quota), False


def remove_abandoned(parent: Path) -> None:
    """Remove groups of launchers that were killed before they could; the kernel refuses if one is in use."""
    for directory in parent.glob(f"{PREFIX}*"):
        owner = directory.name.removeprefix(PREFIX)
        if owner.isdecimal() and not Path("/proc", owner).exists():
            with suppress(OSError):
                directory.rmdir()
