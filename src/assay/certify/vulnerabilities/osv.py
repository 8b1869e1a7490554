"""Match the components of an SBOM with an OSV export, offline.

Records whose versions cannot be compared, and components that cannot be looked up, are reported as well:
neither counts as safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from packageurl import PackageURL
from packaging.utils import canonicalize_name

from assay.certify.bundle.inventory import listed_packages

from .osv_export import BOUNDS, Affected, Bounds, Record, digest, records
from .osv_range import first_fix, is_affected
from .severity import Rating, rate
from .version_order import ORDERS

ECOSYSTEMS: Final = {
    "pypi": "PyPI",
    "npm": "npm",
    "cargo": "crates.io",
    "composer": "Packagist",
    "gem": "RubyGems",
    "golang": "Go",
    "maven": "Maven",
    "nuget": "NuGet",
}
"""The type in a package URL, and the name of the ecosystem in OSV."""
SEPARATORS: Final = {"Maven": ":"}
"""Between the namespace and the name in OSV, where it is not a slash."""
_SUMMARY: Final = 200


class Component(NamedTuple):
    """A component that can be looked up."""

    ecosystem: str
    name: str
    version: str


@dataclass(frozen=True)
class Components:
    matched: tuple[Component, ...]
    unmatched: tuple[str, ...]
    """The names of components without a package URL or version, or of another ecosystem."""


@dataclass(frozen=True)
class Match:
    id: str
    package: str
    version: str
    summary: str
    fixed: str | None
    """The first fixed version, if any."""
    aliases: tuple[str, ...]
    rating: Rating


@dataclass(frozen=True)
class UndecidedMatch:
    """A record about a component whose version cannot be compared."""

    id: str
    package: str
    version: str
    reason: str


@dataclass(frozen=True)
class ScanResult:
    findings: tuple[Match, ...]
    undecided: tuple[UndecidedMatch, ...]
    unmatched: tuple[str, ...]
    records: int
    newest: str
    """The latest modification of a record: the export is at least as recent."""
    export_sha256: str
    uncovered: tuple[str, ...] = ()
    """Ecosystems of components, of which the export has no record."""


def scan(sbom: bytes, export: Path | None, bounds: Bounds = BOUNDS) -> ScanResult | None:
    """Match the components of a valid CycloneDX SBOM; None without an export.

    Raises:
        BadExport: the export is unreadable or exceeds the bounds.
    """
    if export is None:
        return None
    inventory = components(sbom)
    by_name: dict[tuple[str, str], list[Component]] = {}
    for component in inventory.matched:
        by_name.setdefault((component.ecosystem, component.name), []).append(component)
    matches: list[Match | UndecidedMatch] = []
    count, newest = 0, ""
    uncovered = {component.ecosystem for component in inventory.matched}
    for record in records(export, bounds):
        count, newest = count + 1, max(newest, record.modified)
        uncovered -= _ecosystems(record)
        matches += _matches(record, by_name)
    matches.sort(key=lambda match: (match.package, match.version, match.id))
    return ScanResult(
        tuple(match for match in matches if isinstance(match, Match)),
        tuple(match for match in matches if isinstance(match, UndecidedMatch)),
        inventory.unmatched,
        count,
        newest,
        digest(export, bounds),
        tuple(sorted(uncovered)),
    )


def _ecosystems(record: Record) -> set[str]:
    packages = [affected.package for affected in record.affected or () if affected.package is not None]
    return {package.ecosystem.partition(":")[0] for package in packages}


def components(sbom: bytes) -> Components:
    """All components of a valid SBOM, including nested ones."""
    matched: set[Component] = set()
    unmatched: set[str] = set()
    for package in listed_packages(sbom):
        component = _component(package.purl)
        if component is None:
            unmatched.add(package.name)
        else:
            matched.add(component)
    return Components(tuple(sorted(matched)), tuple(sorted(unmatched)))


def _component(purl: str) -> Component | None:
    try:
        url = PackageURL.from_string(purl)
    except ValueError:
        return None
    ecosystem = ECOSYSTEMS.get(url.type)
    if ecosystem is None or not url.version:
        return None
    separator = SEPARATORS.get(ecosystem, "/")
    name = f"{url.namespace}{separator}{url.name}" if url.namespace else url.name
    return Component(ecosystem, _name(ecosystem, name), url.version)


def _name(ecosystem: str, name: str) -> str:
    return canonicalize_name(name) if ecosystem == "PyPI" else name


def _matches(
    record: Record, by_name: dict[tuple[str, str], list[Component]]
) -> Iterator[Match | UndecidedMatch]:
    if record.withdrawn:
        return
    entries_by_component: dict[Component, list[Affected]] = {}
    for affected in record.affected or ():
        if affected.package is not None:
            ecosystem = affected.package.ecosystem.partition(":")[0]
            for component in by_name.get((ecosystem, _name(ecosystem, affected.package.name)), ()):
                entries_by_component.setdefault(component, []).append(affected)
    for component, entries in entries_by_component.items():
        match = _match(record, component, entries)
        if match is not None:
            yield match


def _match(
    record: Record, component: Component, entries: Iterable[Affected]
) -> Match | UndecidedMatch | None:
    _, name, version = component
    order, errors = ORDERS[component.ecosystem], []
    for affected in entries:
        try:
            hit = is_affected(affected, version, order)
        except ValueError as error:
            errors.append(str(error))
            continue
        if hit:
            fixed = first_fix(affected, version, order)
            aliases = tuple(record.aliases or ())
            rating = rate(record.severity, record.database_specific)
            return Match(record.id, name, version, _summary(record), fixed, aliases, rating)
    return UndecidedMatch(record.id, name, version, errors[0]) if errors else None


def _summary(record: Record) -> str:
    text = record.summary or record.details or ""
    return text.strip().partition("\n")[0][:_SUMMARY]
