"""Components matched with vulnerability records."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay.certify.vulnerabilities.osv import (
    Component,
    Components,
    Match,
    ScanResult,
    UndecidedMatch,
    components,
    scan,
)
from assay.certify.vulnerabilities.osv_export import BadExport
from assay.certify.vulnerabilities.severity import Rating, SeverityLevel

UNSCORED = Rating(SeverityLevel.UNSCORED)
CRITICAL = {"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}


def sbom(*purls: str) -> bytes:
    parts = [{"type": "library", "name": purl.rpartition("/")[2], "purl": purl} for purl in purls]
    return json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "components": parts}).encode()


def record(
    name: str = "mcp", ecosystem: str = "PyPI", fixed: str = "1.23.0", **members: Any
) -> dict[str, Any]:
    ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": fixed}]}]
    affected = [{"package": {"ecosystem": ecosystem, "name": name}, "ranges": ranges}]
    return {"id": "X-1", "modified": "2026-01-01T00:00:00Z", "affected": affected, **members}


def scanned(tmp_path: Path, bom: bytes, *known: dict[str, Any]) -> ScanResult:
    (tmp_path / "export.json").write_text(json.dumps(known))
    result = scan(bom, tmp_path / "export.json")
    assert isinstance(result, ScanResult)
    return result


def ids(result: ScanResult) -> list[str]:
    return [match.id for match in result.findings]


def test_a_match_names_component_and_fix(tmp_path: Path) -> None:
    known = record(summary="DNS rebinding", aliases=["CVE-1", "GHSA-1"])
    result = scanned(tmp_path, sbom("pkg:pypi/mcp@1.22.0", "pkg:pypi/other@1.0"), known)
    assert result.findings == (
        Match("X-1", "mcp", "1.22.0", "DNS rebinding", "1.23.0", ("CVE-1", "GHSA-1"), UNSCORED),
    )
    assert (result.undecided, result.unmatched) == ((), ())
    assert (result.records, result.newest) == (1, "2026-01-01T00:00:00Z")
    assert len(result.export_sha256) == 64


def test_ecosystems_without_a_record_are_not_covered(tmp_path: Path) -> None:
    result = scanned(tmp_path, sbom("pkg:pypi/mcp@1.22.0", "pkg:npm/zod@4.0.0"), record("zod", "npm"))
    assert (result.findings, result.uncovered) == ((), ("PyPI",))


def test_a_fixed_version_does_not_match(tmp_path: Path) -> None:
    assert ids(scanned(tmp_path, sbom("pkg:pypi/mcp@1.23.0"), record())) == []


def test_without_an_export_nothing_is_scanned() -> None:
    assert scan(sbom("pkg:pypi/mcp@1.0"), None) is None


def test_a_missing_export_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadExport):
        scan(sbom(), tmp_path / "nowhere")


def test_a_withdrawn_record_is_ignored_but_counted(tmp_path: Path) -> None:
    result = scanned(tmp_path, sbom("pkg:pypi/mcp@1.0"), record(withdrawn="2026-02-01T00:00:00Z"))
    assert (ids(result), result.records) == ([], 1)


@pytest.mark.parametrize(
    ("purl", "name", "ecosystem"),
    [
        ("pkg:pypi/some-package@1.0", "Some_Package", "PyPI"),
        ("pkg:npm/%40scope/name@1.0.0", "@scope/name", "npm"),
        ("pkg:npm/name@1.0.0-rc.1", "name", "npm"),
    ],
)
def test_names_are_normalised(tmp_path: Path, purl: str, name: str, ecosystem: str) -> None:
    assert ids(scanned(tmp_path, sbom(purl), record(name, ecosystem))) == ["X-1"]


def test_names_of_other_ecosystems_do_not_match(tmp_path: Path) -> None:
    bom = sbom("pkg:npm/mcp@1.0.0", "pkg:pypi/mcp-cli@1.0")
    assert ids(scanned(tmp_path, bom, record(), record(ecosystem="crates.io"))) == []


def test_versions_that_cannot_be_compared_are_reported(tmp_path: Path) -> None:
    result = scanned(tmp_path, sbom("pkg:pypi/mcp@nightly"), record())
    assert result.findings == ()
    assert result.undecided == (UndecidedMatch("X-1", "mcp", "nightly", "Invalid version: 'nightly'"),)


def test_one_matching_entry_is_enough(tmp_path: Path) -> None:
    package = {"ecosystem": "PyPI", "name": "mcp"}
    entries = [{"package": package}, {"package": package, "versions": ["nightly"]}, {"ranges": []}]
    result = scanned(
        tmp_path, sbom("pkg:pypi/mcp@nightly"), record(affected=entries, details="First\nsecond")
    )
    assert result.findings == (Match("X-1", "mcp", "nightly", "First", None, (), UNSCORED),)
    assert result.undecided == ()


def test_a_finding_is_rated_by_its_record(tmp_path: Path) -> None:
    result = scanned(tmp_path, sbom("pkg:pypi/mcp@1.0"), record(severity=[CRITICAL]))
    assert result.findings[0].rating == Rating(SeverityLevel.CRITICAL, "CVSS_V3", "9.8")


def test_matches_are_sorted(tmp_path: Path) -> None:
    bom = sbom("pkg:pypi/b@1.0", "pkg:pypi/a@1.0")
    result = scanned(tmp_path, bom, record("b", id="X-2"), record("a", id="X-3"), record("a", id="X-1"))
    assert [(match.package, match.id) for match in result.findings] == [
        ("a", "X-1"),
        ("a", "X-3"),
        ("b", "X-2"),
    ]


def test_components_that_cannot_be_looked_up_are_named() -> None:
    within = [{"type": "library", "name": "inner", "purl": "pkg:npm/inner@1.0.0"}]
    parts = [
        {"type": "platform", "name": "cpython"},
        {"type": "library", "name": "serde", "purl": "pkg:hex/serde@1.0", "components": within},
        {"type": "library", "name": "no-version", "purl": "pkg:pypi/no-version"},
        {"type": "library", "name": "no-url", "purl": "not a purl"},
    ]
    assert components(json.dumps({"components": parts}).encode()) == Components(
        (Component("npm", "inner", "1.0.0"),), ("cpython", "no-url", "no-version", "serde")
    )
