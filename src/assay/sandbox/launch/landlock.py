"""Landlock: the kernel refuses access to files and TCP ports that no rule allows, whatever user asks.

Inside a mount namespace it is the second lock on the file system; without one it is the only one. The
kernel's interface grows by versions: what an older kernel lacks is left out, and the version is reported.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from .kernel import syscall

EXECUTE: Final = 1 << 0
WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_DIRECTORY: Final = 1 << 3
TRUNCATE: Final = 1 << 14
DEVICE_CONTROL: Final = 1 << 15
CONNECT_TCP: Final = 1 << 1
BIND_AND_CONNECT_TCP: Final = 0b11
ABSTRACT_SOCKETS_AND_SIGNALS: Final = 0b11

READ: Final = EXECUTE | READ_FILE | READ_DIRECTORY
OF_FILES: Final = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | DEVICE_CONTROL
"""Rights that a rule about a file, not a directory, may have."""

NETWORK_VERSION: Final = 4
"""The first version with rules for TCP."""
GET_VERSION: Final = 1
RULE_PATH: Final = 1
RULE_PORT: Final = 2


class Rules(NamedTuple):
    read: tuple[str, ...]
    write: tuple[str, ...]
    ports: tuple[int, ...] = ()
    """TCP ports that may be connected to."""


def version() -> int:
    """The version of the kernel's interface; 0 without landlock."""
    try:
        return syscall("landlock_create_ruleset", 0, 0, GET_VERSION)
    except OSError:
        return 0


def file_rights(abi: int) -> int:
    """Every right to files that a version knows: the rules grant some of them back."""
    bits = 13 + (abi >= 2) + (abi >= 3) + (abi >= 5)
    return (1 << bits) - 1


def attributes(abi: int) -> bytes:
    """What is restricted, as `struct landlock_ruleset_attr` of that version."""
    fields = [file_rights(abi)]
    if abi >= NETWORK_VERSION:
        fields.append(BIND_AND_CONNECT_TCP)
    if abi >= 6:
        fields.append(ABSTRACT_SOCKETS_AND_SIGNALS)
    return struct.pack(f"{len(fields)}Q", *fields)


def make_ruleset(abi: int, rules: Rules) -> int:
    """A descriptor of the rules. Paths are opened here, so before the user changes.

    Raises:
        OSError: the kernel refused.
    """
    header = attributes(abi)
    ruleset = syscall("landlock_create_ruleset", header, len(header), 0)
    for path, rights in path_rules(rules, file_rights(abi)):
        _allow_path(ruleset, path, rights)
    if abi >= NETWORK_VERSION:
        for port in rules.ports:
            syscall("landlock_add_rule", ruleset, RULE_PORT, struct.pack("QQ", CONNECT_TCP, port), 0)
    return ruleset


def path_rules(rules: Rules, everything: int) -> Iterator[tuple[str, int]]:
    yield from ((path, READ) for path in rules.read)
    yield from ((path, everything) for path in rules.write)


def _allow_path(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        syscall("landlock_add_rule", ruleset, RULE_PATH, rule, 0)
    finally:
        os.close(descriptor)


def restrict(ruleset: int) -> None:
    """Restrict this process and those that it starts; needs `no_new_privs` or a capability."""
    syscall("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


def existing(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if os.path.exists(path))
