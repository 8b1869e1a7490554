"""System calls that the standard library lacks."""

from __future__ import annotations

import ctypes
import os
import struct
from functools import cache
from typing import Any, Final

from .syscall_table import NUMBERS, machine

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWCGROUP: Final = 0x02000000
CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000
SIGCHLD: Final = 17

MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
MS_REMOUNT: Final = 32
MS_BIND: Final = 4096
MS_REC: Final = 16384
MS_PRIVATE: Final = 1 << 18
MNT_DETACH: Final = 2
AT_FDCWD: Final = -100
AT_RECURSIVE: Final = 0x8000

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_SECCOMP: Final = 22
PR_CAPBSET_DROP: Final = 24
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_CLEAR_ALL: Final = 4
SECCOMP_MODE_FILTER: Final = 2
LAST_CAPABILITY: Final = 63
_CAPABILITY_VERSION_3: Final = 0x20080522


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, name: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return result


def syscall(name: str, *arguments: Any) -> int:
    """Call by number; integers are passed as whole words, bytes and buffers as pointers.

    Raises:
        OSError: the kernel refused.
    """
    words = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    return _check(_libc().syscall(ctypes.c_long(NUMBERS[machine()][name]), *words), name)


def clone(flags: int) -> int:
    """Fork into new namespaces. `unshare` would need a third process: it moves only later children into a new
    namespace for process ids. The caller must have one thread, because Python's hooks for forks do not
    run."""
    return syscall("clone", flags | SIGCHLD, 0, 0, 0, 0)


def unshare(flags: int) -> None:
    syscall("unshare", flags)


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    result = _libc().mount(
        source.encode(), target.encode(), kind and kind.encode(), ctypes.c_ulong(flags), options.encode()
    )
    _check(result, f"mount {target}")


def restrict_mount(target: str, flags: int, *, recursive: bool = True) -> None:
    """Add flags such as read-only to a mount, and to those below it."""
    # struct mount_attr: attr_set, attr_clr, propagation, userns_fd. These flags have the values of MS_*.
    attributes = struct.pack("QQQQ", flags, 0, 0, 0)
    below = AT_RECURSIVE if recursive else 0
    syscall("mount_setattr", AT_FDCWD, target.encode(), below, attributes, len(attributes))


def unmount(target: str) -> None:
    syscall("umount2", target.encode(), MNT_DETACH)


def pivot_root(new: str, old: str) -> None:
    syscall("pivot_root", new.encode(), old.encode())


def prctl(option: int, *arguments: int) -> int:
    words = [ctypes.c_ulong(item) for item in (*arguments, 0, 0, 0, 0)[:4]]
    return _check(_libc().prctl(ctypes.c_int(option), *words), f"prctl {option}")


def drop_capabilities() -> None:
    """Give up every capability, also for programs that are started later."""
    for number in range(LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError:
            break  # the kernel does not know more, or there are none to drop
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header, empty = struct.pack("Ii", _CAPABILITY_VERSION_3, 0), bytes(24)
    syscall("capset", header, empty)


def set_filter(program: bytes) -> None:
    """Install a seccomp filter: instructions of eight bytes."""
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of instructions, and a pointer to them.
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    holder = ctypes.create_string_buffer(header, len(header))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(holder))
