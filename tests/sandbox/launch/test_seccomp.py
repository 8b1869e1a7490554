"""The filter, interpreted: what it refuses, with which error, and what it leaves alone."""

import errno
import socket
import stat

import pytest

from assay.sandbox.launch.seccomp import (
    ABSENT,
    ALLOW,
    ERROR,
    KILL,
    REFUSED,
    SHARED,
    TERMINAL_INPUT,
    X32,
    Sockets,
    assemble,
    instructions,
)
from assay.sandbox.launch.syscall_table import AUDIT_ARCH, NUMBERS
from tests.sandbox.bpf import call, run

MACHINES = sorted(NUMBERS)
# Calls that every server makes: read, write, openat, mmap, execve, on each machine.
ORDINARY = {"x86_64": (0, 1, 257, 9, 59), "aarch64": (63, 64, 56, 222, 221)}
SIGCHLD = 17
NEW_USER = 0x10000000
TIMED_SIGNAL = 0x80 | SIGCHLD


def verdict(machine: str, name: str, *arguments: int, sockets: Sockets = Sockets.LOCAL) -> int:
    program = assemble(instructions(machine, sockets))
    return run(program, call(AUDIT_ARCH[machine], NUMBERS[machine][name], arguments))


def refusal(number: int) -> int:
    return ERROR | number


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_no_server_needs_are_refused(machine: str) -> None:
    names = [name for name in REFUSED if name in NUMBERS[machine]]

    assert len(names) >= len(REFUSED) - 2  # two concern the ports of one kind of machine
    assert {name: verdict(machine, name) for name in names} == dict.fromkeys(names, refusal(errno.EPERM))


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_libraries_can_do_without_do_not_exist(machine: str) -> None:
    verdicts = {verdict(machine, name) for name in ABSENT}

    assert verdicts == {refusal(errno.ENOSYS)}


@pytest.mark.parametrize("machine", MACHINES)
def test_ordinary_calls_are_allowed(machine: str) -> None:
    program = assemble(instructions(machine, Sockets.NONE, own_ipc=False))

    assert {run(program, call(AUDIT_ARCH[machine], number)) for number in ORDINARY[machine]} == {ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_machine_end_the_process(machine: str) -> None:
    program = assemble(instructions(machine, Sockets.LOCAL))

    assert run(program, call(0x40000003, 0)) == KILL


def test_calls_of_the_x32_interface_do_not_exist() -> None:
    program = assemble(instructions("x86_64", Sockets.LOCAL))

    assert run(program, call(AUDIT_ARCH["x86_64"], X32 | 1)) == refusal(errno.ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (SIGCHLD, ALLOW),
        (TIMED_SIGNAL, ALLOW),
        (0x003D0F00, ALLOW),
        (NEW_USER | SIGCHLD, refusal(errno.EPERM)),
        *((flag, refusal(errno.EPERM)) for flag in (0x20000, 0x2000000, 0x20000000, 0x40000000)),
    ],
)
def test_a_process_or_thread_may_be_started_but_not_in_a_new_namespace(
    machine: str, flags: int, expected: int
) -> None:
    assert verdict(machine, "clone", flags) == expected


FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16, 17, 40)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("sockets", "allowed"),
    [
        (Sockets.NONE, set()),
        (Sockets.LOCAL, {socket.AF_UNIX}),
        (Sockets.RELAYED, {socket.AF_UNIX, socket.AF_INET}),
    ],
)
def test_only_some_families_of_sockets_exist(machine: str, sockets: Sockets, allowed: set[int]) -> None:
    verdicts = {family: verdict(machine, "socket", family, sockets=sockets) for family in FAMILIES}

    assert verdicts == {
        family: ALLOW if family in allowed else refusal(errno.EAFNOSUPPORT) for family in FAMILIES
    }


@pytest.mark.parametrize("machine", MACHINES)
def test_a_file_may_be_made_but_not_a_device(machine: str) -> None:
    kinds = (stat.S_IFREG, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, stat.S_IFBLK)

    verdicts = [verdict(machine, "mknodat", 0, 0, kind | 0o600) for kind in kinds]

    assert verdicts == [ALLOW] * 3 + [refusal(errno.EPERM)] * 2


@pytest.mark.parametrize("command", TERMINAL_INPUT)
def test_nothing_can_be_typed_into_the_terminal_of_the_caller(command: int) -> None:
    assert verdict("x86_64", "ioctl", 0, command) == refusal(errno.EPERM)
    assert verdict("x86_64", "ioctl", 0, 0x5413) == ALLOW


@pytest.mark.parametrize("name", SHARED)
def test_shared_memory_is_refused_where_it_is_that_of_the_host(name: str) -> None:
    program = assemble(instructions("x86_64", Sockets.NONE, own_ipc=False))

    assert run(program, call(AUDIT_ARCH["x86_64"], NUMBERS["x86_64"][name])) == refusal(errno.EPERM)
    assert verdict("x86_64", name) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_a_filter_is_short_enough_for_the_kernel(machine: str) -> None:
    assert len(instructions(machine, Sockets.RELAYED, own_ipc=False)) < 4096


def test_no_number_is_given_to_two_calls() -> None:
    for numbers in NUMBERS.values():
        assert len(set(numbers.values())) == len(numbers)
