"""A profile: a frozen list of demands on a server, in `profiles/<name>.toml`.

A published list never changes. Signed results contain its SHA-256, so that no demand can be removed later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.harness.bounded_toml import parse_toml

INTELGRAPH: Final = "intelgraph/2026-11"
"""The newest edition, which is used unless another one is named."""


class MeasuredBy(StrEnum):
    """The kind of evidence that a demand is judged by."""

    TRACES = "traces"
    EVIDENCE = "evidence"
    RESULTS = "results"
    """The results of other demands: see `assay.certify.derived_score`."""
    MEASUREMENT = "measurement"
    """Figures of a provider, compared with the limits of the demand: see `assay.certify.measurement`."""
    LATER = "later"
    """None: the profile was published before it could be measured."""


class Limit(Struct, frozen=True, forbid_unknown_fields=True):
    """What a figure of a measurement must not exceed, or must reach."""

    figure: str
    at_most: float | None = None
    at_least: float | None = None

    def holds(self, value: float) -> bool:
        too_large = self.at_most is not None and not value <= self.at_most
        too_small = self.at_least is not None and not value >= self.at_least
        return not (too_large or too_small)

    def __str__(self) -> str:
        bounds = {"at most": self.at_most, "at least": self.at_least}
        return " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)


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
    limit: tuple[Limit, ...] = ()
    """Of a measurement; it must have a figure for each."""

    def is_within(self, transports: Collection[str]) -> bool:
        """Whether it concerns a server with these transports."""
        return not self.transports or not set(self.transports).isdisjoint(transports)


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    title: str
    page: str
    demand: tuple[Demand, ...]
    complete: bool = False


class BadProfile(ValueError):
    """The profile is invalid or unknown; the message gives the cause."""


class Profile(Struct, frozen=True, dict=True):
    id: str
    title: str
    page: str
    demands: tuple[Demand, ...]
    data: bytes
    """The list, byte for byte."""
    complete: bool = False
    """Whether the conclusion needs a result in every category, and for the core demands on every transport in
    the scope, not only on those that were judged."""

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
    return Profile(document.id, document.title, document.page, document.demand, data, document.complete)


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
