"""What the canary tries: each escape with the protections of which every one alone prevents it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from assay.sandbox.launch.plan import Protection


class Area(StrEnum):
    """What an escape would break; each is a demand of the marketplace's profile."""

    NETWORK = "network"
    WRITES = "writes"
    PRIVILEGES = "privileges"
    LIMITS = "limits"


class Outcome(StrEnum):
    BLOCKED = "blocked"
    SUCCEEDED = "succeeded"
    NOT_POSSIBLE = "not possible"
    """This machine lacks the feature, sandbox or not."""


class Bait(NamedTuple):
    """What Assay has laid out outside of the sandbox for the canary to reach."""

    tcp: int
    """Port of a listener on the loopback address of the host."""
    tcp6: int
    """0 if the host has no IPv6."""
    relayed: int
    """Port of the listener that the sandbox may reach, if it relays one."""
    udp: int
    """Port of a socket that answers DNS queries."""
    abstract: str
    """Name of a local socket without a path."""
    directory: str
    """A directory that everyone may write to. It has a file `secret` and a local socket `socket`."""
    marker: str
    """The name of a file in the host's /tmp and /dev/shm."""
    process: int
    """A process of the same user."""
    caller: int
    """The process of Assay."""
    shared_memory: int
    """Id of a segment; -1 if it could not be made."""
    home: str
    variable: str
    """The name of a variable of Assay that was not named for the server."""
    scratch: str
    program: str
    """A directory that the server is run from."""


class Blocked(Exception):
    """The attempt failed without an error of the kernel; the message says how."""


class NotPossible(Exception):
    """This machine cannot do it."""


Attempt = Callable[[Bait], str]
"""Returns how it succeeded; an OSError is how it was blocked."""


class Escape(NamedTuple):
    id: str
    title: str
    area: Area
    guards: frozenset[Protection]
    attempt: Attempt


def escape(name: str, title: str, area: Area, *guards: Protection) -> Callable[[Attempt], Escape]:
    def declare(attempt: Attempt) -> Escape:
        return Escape(name, title, area, frozenset(guards), attempt)

    return declare
