"""The two inner processes: process 1 of the sandbox, and the server."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NoReturn

from . import file_system, kernel, landlock, relay, seccomp
from .plan import NAMESPACES, Plan, Protection
from .syscall_table import machine

FAILED: Final = 125
"""Exit code of a sandbox that could not be set up: the server was not started."""
NOT_RUNNABLE: Final = 127
LINE: Final = "assay: sandbox: "
NOBODY: Final = 65534
FIRST: Final = 3
"""The first descriptor after the standard streams."""
MOST_DESCRIPTORS: Final = 1 << 20
LOOPBACK_URL: Final = re.compile(r"http://127\.0\.0\.1:(\d{1,5})(?:/|$)")


class SetupFailed(Exception):
    """The message names the step and the reason."""


@contextmanager
def step(title: str) -> Iterator[None]:
    """
    Raises:
        SetupFailed: the kernel refused it.
    """
    try:
        yield
    except OSError as error:
        about = f" ({error.filename})" if isinstance(error.filename, str) else ""
        raise SetupFailed(f"{title}: {error.strerror or error}{about}") from error


def report(problem: object) -> NoReturn:
    """End this process with a line on standard error; nothing may run after a failed step."""
    with suppress(OSError):
        os.write(2, f"{LINE}{problem}\n".encode())
    os._exit(FAILED)


def hold_no_streams() -> None:
    """Give up standard input and output, so that their ends are seen when the server ends or closes them."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)


def run_inside(plan: Plan, words: list[str], channel: socket.socket, *, has_group: bool) -> NoReturn:
    """Process 1 of the sandbox: wait for the outer process, set up, start the server, and reap."""
    try:
        if channel.recv(1) != b"G":
            os._exit(FAILED)
        _set_up(plan, channel)
        server = _start(plan, words, channel, has_group=has_group)
    except SetupFailed as problem:
        report(problem)
    hold_no_streams()
    status = _reap(server)
    with suppress(OSError):
        channel.send(b"S" + struct.pack("i", status))
    if not plan.has(Protection.PROCESSES):
        _end_descendants()
    os._exit(0)


def _set_up(plan: Plan, channel: socket.socket) -> None:
    with step("end with the caller"):
        os.setsid()
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if plan.has_namespaces:
        with step("cgroup namespace"):
            kernel.unshare(kernel.CLONE_NEWCGROUP)
    if plan.has(Protection.HOST_NAME):
        with step("host name"):
            socket.sethostname("sandbox")
    if plan.has(Protection.NETWORK):
        with step("network"):
            relay.raise_loopback()
            if port := relayed_port(plan, os.environ):
                relay.send_listener(channel, port)
    if plan.has(Protection.FILES):
        with step("file system"):
            file_system.build(plan)
    elif plan.has(Protection.PROCESSES):
        with step("/proc"):
            file_system.make_private()
            file_system.mount_proc("/proc")


def _start(plan: Plan, words: list[str], channel: socket.socket, *, has_group: bool) -> int:
    """Start the server; the signals that this process gets are passed on to it."""
    with step("process 1"):
        # The server runs under the same user: it must not read or steer this process. `exec` resets the flag.
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    server = os.fork()
    if server == 0:
        channel.close()
        try:
            _confine(plan, has_group=has_group)
        except SetupFailed as problem:
            report(problem)
        _execute(plan, words)

    def forward(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(server, number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, forward)
    if plan.has(Protection.USER) and plan.user_namespace:
        with step("capabilities"):
            kernel.drop_capabilities()
    return server


def _reap(server: int) -> int:
    """Wait for the server, and for processes that lost their parents."""
    while True:
        process, status = os.wait()
        if process == server:
            return status


def _end_descendants() -> None:
    """Without a namespace for process ids, orphans become children of this process: end them."""
    with suppress(ChildProcessError):
        while True:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                children = file.read().split()
            for child in children:
                with suppress(OSError):
                    os.kill(int(child), signal.SIGKILL)
            os.wait()


def _confine(plan: Plan, *, has_group: bool) -> None:
    """Restrict this process for ever; each step stays possible for the later ones."""
    with step("session"):
        os.setsid()
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if plan.has(Protection.LIMITS):
        with step("rlimits"):
            _limit(plan, has_group=has_group)
    ruleset = None
    abi = landlock.version() if plan.has(Protection.LANDLOCK) else 0
    if abi:
        with step("landlock rules"):
            ruleset = landlock.make_ruleset(abi, landlock_rules(plan))
    if plan.has(Protection.USER) and not plan.user_namespace and os.geteuid() == 0:
        with step("user"):
            _become_nobody()
    if plan.has(Protection.NO_NEW_PRIVILEGES):
        with step("no_new_privs"):
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if ruleset is not None:
        with step("landlock"):
            landlock.restrict(ruleset)
    if plan.has(Protection.SECCOMP):
        with step("seccomp"):
            kernel.set_filter(filter_of(plan, machine()))
    if plan.has(Protection.USER) and plan.user_namespace:
        with step("capabilities"):
            kernel.drop_capabilities()


def _limit(plan: Plan, *, has_group: bool) -> None:
    limits = plan.limits
    values = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.descriptors,
    }
    if not has_group:
        # Not the address space, of which Node reserves far more than it uses.
        values[resource.RLIMIT_DATA] = limits.memory
        values[resource.RLIMIT_NPROC] = limits.processes
    for kind, value in values.items():
        _, hard = resource.getrlimit(kind)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def landlock_rules(plan: Plan) -> landlock.Rules:
    """The second lock: on everything that is mounted; alone, on the paths of the plan."""
    port = relayed_port(plan, os.environ)
    ports = (port,) if port else ()
    if plan.has(Protection.FILES):
        writable = (plan.scratch, "/tmp", *file_system.WRITABLE)
        return landlock.Rules(("/",), writable, ports)
    own = f"/proc/{os.getpid()}"
    read = (*plan.read, own, "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/version")
    return landlock.Rules(read, (plan.scratch, *file_system.WRITABLE[:-1]), ports)


def relayed_port(plan: Plan, variables: Mapping[str, str]) -> int:
    """The port of the host's loopback address that a variable names; 0 if none is relayed."""
    match = LOOPBACK_URL.match(variables.get(plan.relay, "")) if plan.has(Protection.NETWORK) else None
    return int(match[1]) if match else 0


def sockets(plan: Plan) -> seccomp.Sockets:
    if not plan.has(Protection.NETWORK) or not plan.has(Protection.FILES):
        return seccomp.Sockets.NONE
    return seccomp.Sockets.RELAYED if plan.relay else seccomp.Sockets.LOCAL


def filter_of(plan: Plan, name: str) -> bytes:
    """The seccomp program for a machine."""
    own_ipc = plan.has(Protection.IPC)
    return seccomp.assemble(seccomp.instructions(name, sockets(plan), own_ipc=own_ipc))


def _become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def environment(plan: Plan) -> dict[str, str]:
    if not plan.has(Protection.ENVIRONMENT):
        return dict(os.environ)
    named = {name: os.environ[name] for name in plan.names if name in os.environ}
    temporary = f"{plan.scratch}/tmp"
    # Python would try to write bytecode beside the modules, which are read-only.
    python = {"PYTHONDONTWRITEBYTECODE": "1"}
    return {**named, **python, "HOME": plan.scratch, "TMPDIR": temporary, "TMP": temporary, "TEMP": temporary}


def _execute(plan: Plan, words: list[str]) -> NoReturn:
    if not words:
        os._exit(0)  # a trial of the sandbox: all steps were possible
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.chdir(plan.cwd)
    except OSError:
        os.chdir(plan.scratch)
    variables, first = environment(plan), FIRST
    if plan.listener >= 0:
        os.dup2(plan.listener, FIRST)
        variables.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
        first += 1
    if plan.has(Protection.DESCRIPTORS):
        os.closerange(first, MOST_DESCRIPTORS)
    try:
        os.execvpe(words[0], words, variables)
    except OSError as error:
        as_nobody = os.geteuid() == NOBODY and not plan.user_namespace and error.errno == errno.EACCES
        hint = (
            "; the user 65534 must be able to read it, and to enter every directory above"
            if as_nobody
            else ""
        )
        sys.stderr.write(f"{LINE}cannot run {words[0]}: {error.strerror}{hint}\n")
        sys.stderr.flush()
        os._exit(NOT_RUNNABLE)


def namespace_flags(plan: Plan) -> int:
    flags = 0
    if plan.has(Protection.FILES) or plan.has(Protection.PROCESSES):
        flags |= kernel.CLONE_NEWNS
    if plan.has(Protection.USER) and plan.user_namespace:
        flags |= kernel.CLONE_NEWUSER
    table = {
        Protection.PROCESSES: kernel.CLONE_NEWPID,
        Protection.NETWORK: kernel.CLONE_NEWNET,
        Protection.IPC: kernel.CLONE_NEWIPC,
        Protection.HOST_NAME: kernel.CLONE_NEWUTS,
    }
    return flags | sum(table[item] for item in NAMESPACES if item in table and plan.has(item))
