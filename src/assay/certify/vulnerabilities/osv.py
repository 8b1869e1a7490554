"""The components of an SBOM against an OSV export, without a network.

Without an export nothing is measured, which is not the same as nothing found. What cannot be compared, and
components of ecosystems that we cannot compare, are told as well: neither is called safe.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from packageurl import PackageURL
from packaging.utils import canonicalize_name

from .osv_export import BOUNDS, Affected, Bounds, Record, digest, records
from .osv_range import first_fix, is_affected
from .severity import Rating, rate
from .version_order import ORDERS

ECOSYSTEMS: Final = {"pypi": "PyPI", "npm": "npm"}
"""What a package URL calls an ecosystem, and what OSV does."""
_SUMMARY: Final = 200


class Installed(NamedTuple):
    """A component that can be matched."""

    ecosystem: str
    name: str
    version: str


@dataclass(frozen=True)
class Components:
    matched: tuple[Installed, ...]
    unmatched: tuple[str, ...]
    """Those without a package URL, without a version, or of another ecosystem: by name."""


@dataclass(frozen=True)
class Finding:
    id: str
    package: str
    version: str
    summary: str
    fixed: str | None
    """The first version without it, if there is one."""
    aliases: tuple[str, ...]
    rating: Rating


@dataclass(frozen=True)
class Undecided:
    """A record on a component that cannot be told to be affected or not."""

    id: str
    package: str
    version: str
    reason: str


@dataclass(frozen=True)
class Measured:
    findings: tuple[Finding, ...]
    undecided: tuple[Undecided, ...]
    unmatched: tuple[str, ...]
    records: int
    newest: str
    """When the youngest record was last modified: how old the export is at most."""
    export_sha256: str


@dataclass(frozen=True)
class NotMeasured:
    reason: str


def measure(sbom: bytes, export: Path | None, bounds: Bounds = BOUNDS) -> Measured | NotMeasured:
    """Match the components of a CycloneDX SBOM that has been validated.

    Raises:
        BadExport: the export cannot be read, or is out of bounds.
    """
    if export is None:
        return NotMeasured("no OSV export was given")
    there = components(sbom)
    by_name: dict[tuple[str, str], list[Installed]] = {}
    for one in there.matched:
        by_name.setdefault((one.ecosystem, one.name), []).append(one)
    told: list[Finding | Undecided] = []
    count, newest = 0, ""
    for record in records(export, bounds):
        count, newest = count + 1, max(newest, record.modified)
        told += _told(record, by_name)
    told.sort(key=lambda one: (one.package, one.version, one.id))
    return Measured(
        tuple(one for one in told if isinstance(one, Finding)),
        tuple(one for one in told if isinstance(one, Undecided)),
        there.unmatched,
        count,
        newest,
        digest(export, bounds),
    )


def components(sbom: bytes) -> Components:
    """All components, those within others too."""
    matched: set[Installed] = set()
    unmatched: set[str] = set()
    waiting: list[dict[str, Any]] = list(json.loads(sbom).get("components", ()))
    while waiting:
        one = waiting.pop()
        waiting += one.get("components", ())
        found = _installed(one.get("purl"))
        if found is None:
            unmatched.add(one["name"])
        else:
            matched.add(found)
    return Components(tuple(sorted(matched)), tuple(sorted(unmatched)))


def _installed(purl: str | None) -> Installed | None:
    try:
        url = PackageURL.from_string(purl or "")
    except ValueError:
        return None
    ecosystem = ECOSYSTEMS.get(url.type)
    if ecosystem is None or not url.version:
        return None
    name = f"{url.namespace}/{url.name}" if url.namespace else url.name
    return Installed(ecosystem, _name(ecosystem, name), url.version)


def _name(ecosystem: str, name: str) -> str:
    return canonicalize_name(name) if ecosystem == "PyPI" else name


def _told(record: Record, by_name: dict[tuple[str, str], list[Installed]]) -> Iterator[Finding | Undecided]:
    """What one record says of what is installed."""
    if record.withdrawn:
        return
    concerned: dict[Installed, list[Affected]] = {}
    for affected in record.affected or ():
        if affected.package is not None:
            ecosystem = affected.package.ecosystem.partition(":")[0]
            for one in by_name.get((ecosystem, _name(ecosystem, affected.package.name)), ()):
                concerned.setdefault(one, []).append(affected)
    for one, entries in concerned.items():
        found = _judged(record, one, entries)
        if found is not None:
            yield found


def _judged(record: Record, one: Installed, entries: Iterable[Affected]) -> Finding | Undecided | None:
    order, doubts = ORDERS[one.ecosystem], []
    for affected in entries:
        try:
            hit = is_affected(affected, one.version, order)
        except ValueError as error:
            doubts.append(str(error))
            continue
        if hit:
            fixed = first_fix(affected, one.version, order)
            aliases = tuple(record.aliases or ())
            rating = rate(record.severity, record.database_specific)
            return Finding(record.id, one.name, one.version, _summary(record), fixed, aliases, rating)
    return Undecided(record.id, one.name, one.version, doubts[0]) if doubts else None


def _summary(record: Record) -> str:
    text = record.summary or record.details or ""
    return text.strip().partition("\n")[0][:_SUMMARY]
