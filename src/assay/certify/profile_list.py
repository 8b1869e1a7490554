"""A profile: a frozen list of what is demanded of a server, in `profiles/<name>.toml`.

A list never changes once it is shipped. Whoever signs a result binds the SHA-256 of the list into it, so that
nobody can take demands away afterwards.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from enum import StrEnum
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from typing import Final

import msgspec
from msgspec import Struct

INTELGRAPH: Final = "intelgraph/2025-10"


class By(StrEnum):
    """What shows whether a demand is met."""

    TRACES = "traces"
    EVIDENCE = "evidence"
    LATER = "later"
    """Nothing yet: it is never measured by this version."""


class Demand(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    title: str
    group: str
    category: str
    by: By
    transports: tuple[str, ...]
    """Where it can be seen; none where it is not about messages."""
    scored: bool
    """Whether it counts when it is broken; otherwise it is shown."""
    core: bool = False
    """Whether nothing is proved without it, where its transport is judged at all."""


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    title: str
    page: str
    demand: tuple[Demand, ...]


class BadProfile(ValueError):
    """No profile, or none that is known; the text says why."""


class Profile(Struct, frozen=True, dict=True):
    id: str
    title: str
    page: str
    demands: tuple[Demand, ...]
    data: bytes
    """The list, byte for byte."""

    @cached_property
    def sha256(self) -> str:
        return sha256(self.data).hexdigest()


def read(data: bytes) -> Profile:
    """
    Raises:
        BadProfile: these bytes are none.
    """
    try:
        found = msgspec.convert(tomllib.loads(data.decode()), _Document)
    except (ValueError, RecursionError) as error:
        raise BadProfile(f"no profile: {error}") from error
    names = [one.id for one in found.demand]
    if len(set(names)) != len(names):
        raise BadProfile("no profile: a demand is listed twice")
    return Profile(found.id, found.title, found.page, found.demand, data)


def known_digests() -> dict[str, str]:
    """The profiles that are shipped, each with the SHA-256 of its list."""
    return {profile.id: profile.sha256 for profile in map(read, _shipped())}


@cache
def shipped(name: str) -> Profile:
    """
    Raises:
        BadProfile: there is no such profile.
    """
    found = {profile.id: profile for profile in map(read, _shipped())}
    if name not in found:
        raise BadProfile(f"unknown profile: {name}; one of {', '.join(found)}")
    return found[name]


def newest(name: str) -> Profile:
    """A profile by its id, or by its name alone: then the last list of it.

    Raises:
        BadProfile: there is no such profile.
    """
    ids = [profile for profile in known_digests() if profile.partition("/")[0] == name]
    return shipped(max(ids, default=name))


def _shipped() -> Iterator[bytes]:
    for entry in sorted((files(__package__) / "profiles").iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            yield entry.read_bytes()
