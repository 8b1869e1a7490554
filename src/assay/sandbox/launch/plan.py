"""What the launcher is asked for, as one JSON word of its command line: no values of variables are in it."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, Final, NamedTuple

MEBIBYTE: Final = 1024 * 1024


class Protection(StrEnum):
    """Each can be switched off in a plan, so that tests can show what it prevents. Commands have no such
    switch."""

    FILES = "files"
    """A file system with the paths of the plan, read-only but for the scratch directory (mount namespace)."""
    PROCESSES = "processes"
    """Process ids of its own (pid namespace), and a `/proc` that shows only those."""
    NETWORK = "network"
    """An empty network (network namespace)."""
    IPC = "ipc"
    """Its own System V and POSIX queues and memory (ipc namespace)."""
    HOST_NAME = "host name"
    """Its own host name (uts namespace)."""
    USER = "user"
    """Another user without capabilities (user namespace; without namespaces, `nobody` if root is the
    caller)."""
    NO_NEW_PRIVILEGES = "no new privileges"
    SECCOMP = "seccomp"
    LANDLOCK = "landlock"
    LIMITS = "limits"
    """Memory, processes, processor time, file sizes, descriptors: by cgroup, and by rlimits."""
    ENVIRONMENT = "environment"
    """Only named variables."""
    DESCRIPTORS = "descriptors"
    """No open files but the three standard streams."""


NAMESPACES: Final = (
    *(Protection.FILES, Protection.PROCESSES, Protection.NETWORK),
    *(Protection.IPC, Protection.HOST_NAME),
)


class Limits(NamedTuple):
    memory: int = 1024 * MEBIBYTE
    """Bytes of all processes together; of each, where there is no cgroup."""
    processes: int = 256
    """Threads count, too."""
    cores: float = 1.0
    """By cgroup only."""
    cpu_seconds: int = 3600
    """Processor time of each process."""
    file_bytes: int = 256 * MEBIBYTE
    """Of one file."""
    descriptors: int = 1024


class Plan(NamedTuple):
    protections: frozenset[Protection]
    read: tuple[str, ...]
    """Paths of the host that the server can read, under the same names."""
    scratch: str
    """The directory that it can write to, under the same name; its home. `/tmp` is a directory in it."""
    cwd: str
    names: tuple[str, ...]
    """Variables that it gets, if they are set."""
    limits: Limits = Limits()
    relay: str = ""
    """A variable with a URL of this machine's loopback address: its port can be reached from the sandbox."""
    listener: int = -1
    """The descriptor of a listening socket that the server gets, as service managers pass one; -1 for
    none."""
    needs_group: bool = False
    """Whether a cgroup must limit all processes together. Otherwise one does where the caller may make
    one."""
    user_namespace: bool = True
    """Without, root's servers run as the user 65534, and other users' under their own user."""

    @property
    def has_namespaces(self) -> bool:
        return any(protection in self.protections for protection in NAMESPACES)

    def has(self, protection: Protection) -> bool:
        return protection in self.protections

    def without(self, *protections: Protection) -> Plan:
        return self._replace(protections=self.protections - {*protections})

    def as_json(self) -> str:
        return json.dumps({**self._asdict(), "protections": sorted(self.protections)})


def parse_plan(text: str) -> Plan:
    fields: dict[str, Any] = json.loads(text)
    return Plan(
        **{
            **fields,
            "protections": frozenset(Protection(name) for name in fields["protections"]),
            "read": tuple(fields["read"]),
            "names": tuple(fields["names"]),
            "limits": Limits(*fields["limits"]),
        }
    )
