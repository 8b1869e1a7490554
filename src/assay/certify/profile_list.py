"""A profile: a frozen list of demands on a server, in `profiles/<name>.toml`.

A published list never changes. Signed results contain its SHA-256, so that no demand can be removed later.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.harness.bounded_toml import parse_toml

INTELGRAPH: Final = "intelgraph/2025-10"


class MeasuredBy(StrEnum):
    """The kind of evidence that a demand is judged by."""

    TRACES = "traces"
    EVIDENCE = "evidence"
    LATER = "later"
    """None yet: this version cannot measure it."""


class Demand(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    title: str
    group: str
    category: str
    by: MeasuredBy
    transports: tuple[str, ...]
    """On which it can be observed; empty if it is not about messages."""
    scored: bool
    """Whether a failure counts; otherwise it is only reported."""
    core: bool = False
    """Whether it must be measured for a positive conclusion, if its transport is judged."""


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    title: str
    page: str
    demand: tuple[Demand, ...]


class BadProfile(ValueError):
    """The profile is invalid or unknown; the message gives the cause."""


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
        BadProfile: the data is not a valid profile.
    """
    try:
        document = msgspec.convert(parse_toml(data), _Document)
    except ValueError as error:
        raise BadProfile(f"not a profile: {error}") from error
    ids = [demand.id for demand in document.demand]
    if len(set(ids)) != len(ids):
        raise BadProfile("not a profile: a demand is listed twice")
    return Profile(document.id, document.title, document.page, document.demand, data)


def known_digests() -> dict[str, str]:
    """The profiles in this package by id, each with the SHA-256 of its list."""
    return {profile.id: profile.sha256 for profile in map(read, _shipped())}


@cache
def shipped(name: str) -> Profile:
    """
    Raises:
        BadProfile: the profile is unknown.
    """
    profiles = {profile.id: profile for profile in map(read, _shipped())}
    if name not in profiles:
        raise BadProfile(f"unknown profile: {name}; choose one of {', '.join(profiles)}")
    return profiles[name]


def newest(name: str) -> Profile:
    """A profile by its id, or the newest list with that name.

    Raises:
        BadProfile: the profile is unknown.
    """
    ids = [profile for profile in known_digests() if profile.partition("/")[0] == name]
    return shipped(max(ids, default=name))


def _shipped() -> Iterator[bytes]:
    for entry in sorted((files(__package__) / "profiles").iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            yield entry.read_bytes()
