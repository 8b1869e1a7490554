"""Escapes to files of the host."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from assay.sandbox.launch.plan import Protection as P

from .escape import Area, Bait, Blocked, escape

NAME: Final = "assay-canary"
DEVICES: Final = ("mem", "kmsg", "kvm", "fuse", "loop-control", "loop0", "vda", "sda", "nvme0n1", "tty0")
_SEEN: Final = (P.FILES, P.LANDLOCK)


def _write(directory: str) -> str:
    path = Path(directory, f"{NAME}-{os.getpid()}")
    path.write_bytes(b"")
    path.unlink()
    return f"wrote to {directory}"


def _write_beside(directory: str, marker: str) -> str:
    """Write to a directory of the host; one of the same name that lacks the marker is private."""
    if not Path(directory, marker).exists():
        raise Blocked(f"{directory} is not the one of the host")
    return _write(directory)


@escape("write-home", "Write to the home directory", Area.WRITES, *_SEEN)
def write_home(bait: Bait) -> str:
    return _write(bait.home)


@escape("write-tmp", "Write to the host's /tmp", Area.WRITES, *_SEEN)
def write_tmp(bait: Bait) -> str:
    return _write_beside("/tmp", bait.marker)


@escape("write-shm", "Write to the host's /dev/shm", Area.WRITES, *_SEEN)
def write_shm(bait: Bait) -> str:
    return _write_beside("/dev/shm", bait.marker)


@escape("write-etc", "Write to /etc", Area.WRITES, *_SEEN)
def write_etc(bait: Bait) -> str:
    return _write("/etc")


@escape("write-open-directory", "Write to a directory that everyone may write to", Area.WRITES, *_SEEN)
def write_open_directory(bait: Bait) -> str:
    return _write(bait.directory)


@escape("write-program", "Write to the directory of the server", Area.WRITES, *_SEEN)
def write_program(bait: Bait) -> str:
    return _write(bait.program)


@escape("write-sysctl", "Open a setting of the kernel for writing", Area.WRITES, *_SEEN, P.PROCESSES)
def write_sysctl(bait: Bait) -> str:
    with open("/proc/sys/kernel/core_pattern", "r+b"):
        return "opened core_pattern, which names a program that root runs"


@escape("open-device", "Open a device of the host", Area.WRITES, *_SEEN)
def open_device(bait: Bait) -> str:
    for name in DEVICES:
        with suppress(OSError):
            os.close(os.open(f"/dev/{name}", os.O_RDWR | os.O_NONBLOCK))
            return f"opened /dev/{name}"
    raise Blocked("no device of the host can be opened")


@escape("make-device", "Make a device node", Area.WRITES, P.USER, P.SECCOMP, P.FILES)
def make_device(bait: Bait) -> str:
    path = f"{bait.scratch}/device-{os.getpid()}"
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    try:
        os.close(os.open(path, os.O_RDONLY))
    finally:
        os.unlink(path)
    return "made and opened one"


@escape("read-secret", "Read a file of the host, such as a key in ~/.ssh", Area.PRIVILEGES, *_SEEN)
def read_secret(bait: Bait) -> str:
    return f"read {len(Path(bait.directory, 'secret').read_bytes())} bytes"


@escape("read-shadow", "Read the passwords of the host", Area.PRIVILEGES, *_SEEN)
def read_shadow(bait: Bait) -> str:
    return f"read {len(Path('/etc/shadow').read_bytes())} bytes"


ESCAPES: Final = (
    *(write_home, write_tmp, write_shm, write_etc, write_open_directory, write_program, write_sysctl),
    *(open_device, make_device, read_secret, read_shadow),
)
