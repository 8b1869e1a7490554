"""Escapes by privileges, and by parts of the kernel that a server does not need."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
from typing import Final

from assay.sandbox.launch import kernel
from assay.sandbox.launch.kernel import syscall
from assay.sandbox.launch.plan import Protection as P

from .escape import Area, Bait, Blocked, escape

GET_NO_NEW_PRIVS: Final = 39
ADD_TO_PROCESS_KEYRING: Final = -2
PERF_SOFTWARE: Final = 1
PERF_SIZE: Final = 64
EXCLUDE_KERNEL: Final = 1 << 5
USER_MODE_ONLY: Final = 1
BPF_ARRAY: Final = 2
READ_KERNEL_LOG: Final = 3
_UNPRIVILEGED: Final = (P.USER, P.SECCOMP)


@escape("setuid", "Become root", Area.PRIVILEGES, P.USER)
def setuid(bait: Bait) -> str:
    os.setresuid(0, 0, 0)
    return "the user is root"


@escape("new-privileges", "Gain privileges from a set-uid program", Area.PRIVILEGES, P.NO_NEW_PRIVILEGES)
def new_privileges(bait: Bait) -> str:
    if kernel.prctl(GET_NO_NEW_PRIVS):
        raise Blocked("no_new_privs is set")
    return "no_new_privs is not set"


@escape("mount", "Mount a file system", Area.PRIVILEGES, *_UNPRIVILEGED, P.LANDLOCK)
def mount(bait: Bait) -> str:
    kernel.mount("tmpfs", bait.scratch, "tmpfs", 0)
    kernel.unmount(bait.scratch)
    return "mounted"


@escape("unshare", "Make a user namespace, to have capabilities there", Area.PRIVILEGES, P.SECCOMP)
def unshare(bait: Bait) -> str:
    kernel.unshare(kernel.CLONE_NEWUSER)
    return "made"


@escape("clone", "Start a process in a new user namespace", Area.PRIVILEGES, P.SECCOMP)
def clone(bait: Bait) -> str:
    child = kernel.clone(kernel.CLONE_NEWUSER)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "started"


@escape("setns", "Enter a namespace", Area.PRIVILEGES, *_UNPRIVILEGED)
def setns(bait: Bait) -> str:
    descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
    syscall("setns", descriptor, 0)
    return "entered"


@escape("chroot", "Change the root directory", Area.PRIVILEGES, *_UNPRIVILEGED)
def chroot(bait: Bait) -> str:
    os.chroot(bait.scratch)
    return "changed"


@escape("keyring", "Store a key in the kernel", Area.PRIVILEGES, P.SECCOMP)
def keyring(bait: Bait) -> str:
    syscall("add_key", b"user", b"assay-canary", b"x", 1, ADD_TO_PROCESS_KEYRING)
    return "stored"


@escape("bpf", "Load a BPF map", Area.PRIVILEGES, *_UNPRIVILEGED)
def bpf(bait: Bait) -> str:
    attributes = struct.pack("IIII", BPF_ARRAY, 4, 4, 1).ljust(72, b"\0")
    os.close(syscall("bpf", 0, attributes, len(attributes)))
    return "loaded"


@escape("perf", "Watch the processor", Area.PRIVILEGES, P.SECCOMP)
def perf(bait: Bait) -> str:
    attributes = struct.pack("IIQQQQQ", PERF_SOFTWARE, PERF_SIZE, 0, 0, 0, 0, EXCLUDE_KERNEL)
    os.close(syscall("perf_event_open", attributes.ljust(PERF_SIZE, b"\0"), 0, -1, -1, 0))
    return "opened"


@escape("io-uring", "Open an io_uring, which no filter sees", Area.PRIVILEGES, P.SECCOMP)
def io_uring(bait: Bait) -> str:
    os.close(syscall("io_uring_setup", 4, ctypes.create_string_buffer(120)))
    return "opened"


@escape("userfaultfd", "Handle page faults", Area.PRIVILEGES, P.SECCOMP)
def userfaultfd(bait: Bait) -> str:
    os.close(syscall("userfaultfd", USER_MODE_ONLY))
    return "opened"


@escape("reboot", "Restart the machine", Area.PRIVILEGES, *_UNPRIVILEGED)
def reboot(bait: Bait) -> str:
    try:
        syscall("reboot", 0, 0, 0)
    except OSError as error:
        # The permission is checked before the arguments, which are wrong on purpose.
        if error.errno != errno.EINVAL:
            raise
    return "permitted; it was tried with wrong arguments"


@escape("file-handle", "Open a file by its handle, past directories", Area.PRIVILEGES, *_UNPRIVILEGED)
def file_handle(bait: Bait) -> str:
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    syscall(
        "name_to_handle_at", kernel.AT_FDCWD, bait.scratch.encode(), handle, ctypes.byref(ctypes.c_int()), 0
    )
    directory = os.open(bait.scratch, os.O_RDONLY)
    os.close(syscall("open_by_handle_at", directory, handle, os.O_RDONLY))
    return "opened"


@escape("host-name", "Set the host name", Area.PRIVILEGES, *_UNPRIVILEGED)
def host_name(bait: Bait) -> str:
    socket.sethostname(socket.gethostname())
    return "set to what it was"


@escape("kernel-log", "Read the log of the kernel", Area.PRIVILEGES, *_UNPRIVILEGED)
def kernel_log(bait: Bait) -> str:
    buffer = ctypes.create_string_buffer(512)
    return f"read {syscall('syslog', READ_KERNEL_LOG, buffer, 512)} bytes"


ESCAPES: Final = (
    *(setuid, new_privileges, mount, unshare, clone, setns, chroot, keyring, bpf, perf, io_uring),
    *(userfaultfd, reboot, file_handle, host_name, kernel_log),
)
