"""The file system of a sandbox: an empty one, with the paths of the plan mounted read-only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from .kernel import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    mount,
    pivot_root,
    restrict_mount,
    unmount,
)
from .plan import Plan, Protection

USER: Final = 65534
"""The number of the server's user inside."""
BASE: Final = "/tmp"
"""Where the new file system is assembled. It exists everywhere, and the mount hides it only in the
namespace."""
DEVICES: Final = ("null", "zero", "full", "random", "urandom")
LINKS: Final = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
SHARED_MEMORY: Final = "size=16m,mode=1777"
WRITABLE: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm")
# The caller may be root, whose number the server then has outside: these would obey it without capabilities.
CONTROLS: Final = ("sys", "sysrq-trigger", "irq", "bus", "fs")


def build(plan: Plan) -> None:
    """Replace the root directory.

    Raises:
        OSError: a mount was refused.
    """
    make_private()
    mount("tmpfs", BASE, "tmpfs", MS_NOSUID | MS_NODEV, "size=8m,mode=755")
    os.mkdir(f"{BASE}/new", 0o755)
    os.mkdir(f"{BASE}/old", 0o755)
    pivot_root(BASE, f"{BASE}/old")
    os.chdir("/")
    mount("tmpfs", "/new", "tmpfs", MS_NOSUID | MS_NODEV, "size=8m,mode=755")
    _make_devices()
    _show(plan.scratch, writable=True)
    os.makedirs("/new/tmp", exist_ok=True)
    mount(f"/old{plan.scratch}/tmp", "/new/tmp", None, MS_BIND)
    restrict_mount("/new/tmp", MS_NOSUID | MS_NODEV)
    # Last, because a command may name a file in /tmp: it is mounted over an empty one.
    for path in plan.read:
        _show(path)
    os.makedirs("/new/proc", exist_ok=True)
    if plan.has(Protection.PROCESSES):
        mount_proc("/new/proc")
    else:
        mount("/old/proc", "/new/proc", None, MS_BIND | MS_REC)
        _protect_controls("/new/proc")
    _write_accounts(plan.scratch)
    unmount("/old")
    os.chdir("/new")
    # The new root takes the place of the old one, which then lies over it and is removed.
    pivot_root(".", ".")
    unmount(".")
    os.chdir("/")
    restrict_mount("/", MS_RDONLY, recursive=False)


def make_private() -> None:
    """Mounts here must not appear outside."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)


def _show(path: str, *, writable: bool = False) -> None:
    """Mount a path of the host under its own name, and what its links lead to under theirs."""
    source = f"/old{path}"
    if os.path.islink(source):
        # Links at the top, such as /lib to usr/lib: their targets are in the plan as well.
        _make_parents(path)
        if not os.path.lexists(f"/new{path}"):
            os.symlink(os.readlink(source), f"/new{path}")
        return
    if not os.path.exists(source):
        return
    target = f"/new{path}"
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        _make_parents(path)
        with open(target, "w"):
            pass
    mount(source, target, None, MS_BIND | MS_REC)
    restrict_mount(target, MS_NOSUID | MS_NODEV | (0 if writable else MS_RDONLY))


def _make_parents(path: str) -> None:
    os.makedirs(os.path.dirname(f"/new{path}"), exist_ok=True)


def _make_devices() -> None:
    os.makedirs("/new/dev", exist_ok=True)
    for name in DEVICES:
        with open(f"/new/dev/{name}", "w"):
            pass
        mount(f"/old/dev/{name}", f"/new/dev/{name}", None, MS_BIND)
    for name, target in LINKS.items():
        os.symlink(target, f"/new/dev/{name}")
    os.mkdir("/new/dev/shm")
    mount("tmpfs", "/new/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, SHARED_MEMORY)


def mount_proc(target: str) -> None:
    """A view of the processes of this namespace, whose settings cannot be written."""
    mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _protect_controls(target)


def _protect_controls(proc: str) -> None:
    for path in _controls(proc):
        mount(path, path, None, MS_BIND | MS_REC)
        restrict_mount(path, MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)


def _controls(proc: str) -> Iterator[str]:
    return (path for name in CONTROLS if os.path.exists(path := f"{proc}/{name}"))


def _write_accounts(home: str) -> None:
    """Programs look up the name and home of their user."""
    os.makedirs("/new/etc", exist_ok=True)
    for name, line in (
        ("passwd", f"sandbox:x:{USER}:{USER}::{home}:/bin/sh"),
        ("group", f"sandbox:x:{USER}:"),
    ):
        with open(f"/new/etc/{name}", "w") as file:
            file.write(f"{line}\n")
