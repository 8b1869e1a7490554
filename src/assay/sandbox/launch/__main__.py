"""The outer process: see the package."""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from . import cgroup, kernel, relay
from .file_system import USER
from .plan import Plan, Protection, parse_plan
from .process import SetupFailed, hold_no_streams, namespace_flags, relayed_port, report, run_inside, step


def main(arguments: list[str]) -> NoReturn:
    plan, words = parse_plan(arguments[0]), arguments[2:]
    caller = os.getppid()
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != caller:
        os._exit(0)
    try:
        group = _make_group(plan)
    except SetupFailed as problem:
        report(problem)
    try:
        status = _run(plan, words, group, caller)
    except SetupFailed as problem:
        if group is not None:
            group.remove()
        report(problem)
    if group is not None:
        if not plan.has(Protection.PROCESSES):
            group.kill()
        if os.WIFSIGNALED(status) and group.ran_out_of_memory:
            limit = plan.limits.memory // (1024 * 1024)
            os.write(2, f"assay: sandbox: the limit of {limit} MiB of memory was reached\n".encode())
        group.remove()
    _exit_like(status)


def _make_group(plan: Plan) -> cgroup.Group | None:
    if not plan.has(Protection.LIMITS):
        return None
    place = cgroup.this_place()
    if place is None and not plan.needs_group:
        return None
    with step("cgroup"):
        if place is None:
            raise OSError("no group for memory and processes that this user may divide")
        return cgroup.Group(place, plan.limits)


def _run(plan: Plan, words: list[str], group: cgroup.Group | None, caller: int) -> int:
    """The status of the server, as `wait` gives it."""
    here, there = socket.socketpair()
    os.makedirs(f"{plan.scratch}/tmp", exist_ok=True)
    with step("namespaces"):
        inner = kernel.clone(namespace_flags(plan))
    if inner == 0:
        here.close()
        run_inside(plan, words, there, has_group=group is not None)
    there.close()
    _relay_signals(inner, caller)
    try:
        _admit(plan, inner, group)
        here.send(b"G")
    except BaseException:
        os.kill(inner, signal.SIGKILL)
        raise
    hold_no_streams()
    port = relayed_port(plan, os.environ)
    listener = relay.receive_listener(here) if port else None
    if listener is not None:
        relay.start(listener, port)
    _, end = os.waitpid(inner, 0)
    return _status_of(here, end)


def _admit(plan: Plan, inner: int, group: cgroup.Group | None) -> None:
    """What only a process outside may do for the inner one."""
    if group is not None:
        with step("cgroup"):
            group.add(inner)
    if plan.has(Protection.USER) and plan.user_namespace:
        with step("user namespace"):
            _write(inner, "setgroups", "deny")
            _write(inner, "uid_map", f"{USER} {os.geteuid()} 1")
            _write(inner, "gid_map", f"{USER} {os.getegid()} 1")
    elif plan.has(Protection.USER) and os.geteuid() == 0:
        with step("scratch directory"):
            for directory in (plan.scratch, f"{plan.scratch}/tmp"):
                os.chown(directory, USER, USER)


def _write(process: int, file: str, text: str) -> None:
    with open(f"/proc/{process}/{file}", "w") as target:
        target.write(text)


def _relay_signals(inner: int, caller: int) -> None:
    def relayed(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            # A caller that died cannot wait for a server that ends when it likes.
            os.kill(inner, number if os.getppid() == caller else signal.SIGKILL)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, relayed)


def _status_of(channel: socket.socket, end: int) -> int:
    """What process 1 reported of the server; its own end, if that came first."""
    channel.setblocking(False)
    with suppress(BlockingIOError):
        data = channel.recv(5)
        if data[:1] == b"S":
            return int(struct.unpack("i", data[1:])[0])
    return end


def _exit_like(status: int) -> NoReturn:
    """End as the server did, so that the caller cannot tell the difference."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
