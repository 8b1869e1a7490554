"""Escapes to other processes, and to what the caller has: its variables and open files."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Final

from assay.sandbox.launch.kernel import syscall
from assay.sandbox.launch.plan import Protection as P

from .escape import Area, Bait, Blocked, NotPossible, escape

PTRACE_SEIZE: Final = 0x4206
PTRACE_DETACH: Final = 17


def _libc_call(name: str, *arguments: Any, result: Any = ctypes.c_long) -> int:
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    function.restype = result
    value = function(*arguments)
    if value in (-1, None, ctypes.c_void_p(-1).value):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(value)


@escape("proc", "See processes of the host in /proc", Area.PRIVILEGES, P.PROCESSES)
def proc(bait: Bait) -> str:
    command = Path(f"/proc/{bait.process}/cmdline").read_bytes()
    # In a namespace of its own, the same number may be another process.
    if bait.variable.encode() not in command:
        raise Blocked("the number is not that process here")
    return "read the command line of another process"


@escape(
    "proc-environ",
    "Read the variables of another process",
    Area.PRIVILEGES,
    *(P.PROCESSES, P.USER),
)
def proc_environ(bait: Bait) -> str:
    variables = Path(f"/proc/{bait.process}/environ").read_bytes()
    if bait.variable.encode() not in variables:
        raise Blocked("the number is not that process here")
    return "read the variables of another process"


_NOT_TRACED: Final = (P.PROCESSES, P.USER, P.LANDLOCK, P.SECCOMP)


@escape("ptrace", "Trace another process", Area.PRIVILEGES, *_NOT_TRACED)
def ptrace(bait: Bait) -> str:
    word = ctypes.c_long
    _libc_call("ptrace", word(PTRACE_SEIZE), word(bait.process), word(0), word(0))
    return "attached; detached by ending"


@escape("process-vm-readv", "Read the memory of another process", Area.PRIVILEGES, *_NOT_TRACED)
def process_vm_readv(bait: Bait) -> str:
    class Piece(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    buffer = ctypes.create_string_buffer(8)
    here = Piece(ctypes.addressof(buffer), 8)
    there = Piece(_first_address(bait.process), 8)
    pieces = (ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    return f"read {syscall('process_vm_readv', bait.process, *pieces)} bytes"


def _first_address(process: int) -> int:
    maps = Path(f"/proc/{process}/maps").read_text()
    return int(maps.partition("-")[0], 16)


@escape("pidfd-getfd", "Take an open file of another process", Area.PRIVILEGES, *_NOT_TRACED)
def pidfd_getfd(bait: Bait) -> str:
    descriptor = os.pidfd_open(bait.process)
    os.close(syscall("pidfd_getfd", descriptor, 2, 0))
    return "took its standard error"


def _signal(process: int) -> str:
    os.kill(process, 0)
    return "a signal would arrive"


@escape("signal-caller", "Send a signal to Assay", Area.PRIVILEGES, P.PROCESSES, P.LANDLOCK)
def signal_caller(bait: Bait) -> str:
    return _signal(bait.caller)


@escape("signal-other", "Send a signal to another process", Area.PRIVILEGES, P.PROCESSES, P.LANDLOCK)
def signal_other(bait: Bait) -> str:
    return _signal(bait.process)


@escape("shared-memory", "Attach shared memory of the host", Area.PRIVILEGES, P.IPC, P.SECCOMP)
def shared_memory(bait: Bait) -> str:
    if bait.shared_memory < 0:
        raise NotPossible("the host has no System V shared memory")
    _libc_call("shmat", ctypes.c_int(bait.shared_memory), None, 0, result=ctypes.c_void_p)
    return "attached"


@escape("variable", "Inherit a variable that was not named", Area.PRIVILEGES, P.ENVIRONMENT)
def variable(bait: Bait) -> str:
    if bait.variable not in os.environ:
        raise Blocked("the variable is not set")
    return "the variable is set"


@escape("descriptor", "Inherit an open file", Area.PRIVILEGES, P.DESCRIPTORS)
def descriptor(bait: Bait) -> str:
    for number in range(3, 64):
        try:
            os.fstat(number)
        except OSError:
            continue
        # The canary has a pipe of its own for results.
        if os.readlink(f"/proc/self/fd/{number}").endswith("/secret"):
            return f"descriptor {number} is open"
    raise Blocked("no file is open")


ESCAPES: Final = (
    *(proc, proc_environ, ptrace, process_vm_readv, pidfd_getfd, signal_caller, signal_other),
    *(shared_memory, variable, descriptor),
)
