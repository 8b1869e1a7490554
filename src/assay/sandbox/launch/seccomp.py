"""The seccomp filter: a classic BPF program that refuses system calls which a server does not need.

It refuses by list and allows the rest: a list of what is allowed would break servers in languages and
libraries that it was not tried with. The order of the checks is that of the kernel's advice: the machine
first, because the numbers of calls differ.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

from .syscall_table import AUDIT_ARCH, NUMBERS

LOAD: Final = 0x20
JUMP_EQUAL: Final = 0x15
JUMP_AT_LEAST: Final = 0x35
JUMP_ANY_BIT: Final = 0x45
MASK: Final = 0x54
RETURN: Final = 0x06

ALLOW: Final = 0x7FFF0000
KILL: Final = 0x80000000
ERROR: Final = 0x00050000

NUMBER_AT: Final = 0
MACHINE_AT: Final = 4
ARGUMENTS_AT: Final = 16
X32: Final = 0x40000000
"""Bit of the numbers of the x32 interface, which would bypass a filter that knows one number per call."""

AF_UNIX: Final = 1
AF_INET: Final = 2
NEW_NAMESPACES: Final = 0x7E020000
"""All CLONE_NEW* flags of `clone`. That for time shares a bit with the signal at exit, and works in `clone3`
only."""
FILE_TYPE: Final = 0xF000
DEVICES: Final = (0x2000, 0x6000)
"""Types of `mknod`: character and block devices."""
TERMINAL_INPUT: Final = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into the terminal of the caller."""

REFUSED: Final = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
    *("mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig"),
    *("fsmount", "fspick", "mount_setattr", "unshare", "setns"),
    *("bpf", "perf_event_open", "userfaultfd", "fanotify_init"),
    *("add_key", "request_key", "keyctl"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot"),
    *("swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "vhangup"),
    *("name_to_handle_at", "open_by_handle_at"),
    *("sethostname", "setdomainname", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex"),
    *("iopl", "ioperm"),
)
SHARED: Final = ("shmget", "shmat", "semget", "msgget")
"""Without an ipc namespace, these reach other processes of the host."""
ABSENT: Final = ("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3")
"""Answered as by a kernel without them: libraries then use the older calls. The flags of `clone3` are in
memory, where a filter cannot read them; io_uring would make calls that no filter sees."""


class Sockets(Enum):
    """Which sockets a server may open. Pairs of connected sockets are always possible."""

    NONE = "none"
    """Without namespaces: a local socket reaches services of the host by name."""
    LOCAL = "local"
    RELAYED = "relayed"
    """TCP, too, inside an empty network namespace where only Assay listens."""


FAMILIES: Final[Mapping[Sockets, tuple[int, ...]]] = {
    Sockets.NONE: (),
    Sockets.LOCAL: (AF_UNIX,),
    Sockets.RELAYED: (AF_UNIX, AF_INET),
}


class Instruction(NamedTuple):
    code: int
    jump_true: int
    jump_false: int
    operand: int


def _load(offset: int) -> Instruction:
    return Instruction(LOAD, 0, 0, offset)


def _argument(place: int) -> Instruction:
    """The low half of an argument: what is compared here has 32 bits in the kernel."""
    return _load(ARGUMENTS_AT + 8 * place)


def _unless(code: int, operand: int, skipped: int) -> Instruction:
    """Skip instructions unless the comparison holds."""
    return Instruction(code, 0, skipped, operand)


def _return(value: int) -> Instruction:
    return Instruction(RETURN, 0, 0, value)


def _error(number: int) -> Instruction:
    return _return(ERROR | number)


def _on_call(number: int, body: Sequence[Instruction]) -> Iterator[Instruction]:
    """Run `body` for one call, then load the number again for the next check."""
    yield _unless(JUMP_EQUAL, number, len(body) + 1)
    yield from body
    yield _load(NUMBER_AT)


def _refuse_values(place: int, values: Sequence[int], mask: int | None = None) -> list[Instruction]:
    begin = [_argument(place)] + ([] if mask is None else [Instruction(MASK, 0, 0, mask)])
    return begin + [step for value in values for step in (_unless(JUMP_EQUAL, value, 1), _error(errno.EPERM))]


def _refuse_sockets(sockets: Sockets) -> list[Instruction]:
    """Allow some families; the others do not exist."""
    families = FAMILIES[sockets]
    jumps = [
        Instruction(JUMP_EQUAL, len(families) - place, 0, family) for place, family in enumerate(families)
    ]
    return [_argument(0), *jumps, _error(errno.EAFNOSUPPORT)]


def instructions(machine: str, sockets: Sockets, *, own_ipc: bool = True) -> list[Instruction]:
    numbers = NUMBERS[machine]
    program = [
        _load(MACHINE_AT),
        Instruction(JUMP_EQUAL, 1, 0, AUDIT_ARCH[machine]),
        _return(KILL),
        _load(NUMBER_AT),
        _unless(JUMP_AT_LEAST, X32, 1),
        _error(errno.ENOSYS),
    ]
    refused = REFUSED if own_ipc else (*REFUSED, *SHARED)
    for names, reason in ((refused, errno.EPERM), (ABSENT, errno.ENOSYS)):
        for name in names:
            if name in numbers:  # some calls exist on one machine only
                program += [_unless(JUMP_EQUAL, numbers[name], 1), _error(reason)]
    flags = [_argument(0), _unless(JUMP_ANY_BIT, NEW_NAMESPACES, 1), _error(errno.EPERM)]
    program += _on_call(numbers["clone"], flags)
    program += _on_call(numbers["socket"], _refuse_sockets(sockets))
    program += _on_call(numbers["ioctl"], _refuse_values(1, TERMINAL_INPUT))
    program += _on_call(numbers["mknodat"], _refuse_values(2, DEVICES, FILE_TYPE))
    if "mknod" in numbers:
        program += _on_call(numbers["mknod"], _refuse_values(1, DEVICES, FILE_TYPE))
    return [*program, _return(ALLOW)]


def assemble(program: Sequence[Instruction]) -> bytes:
    return b"".join(struct.pack("HBBI", *step) for step in program)
