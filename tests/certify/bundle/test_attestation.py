"""Statements depend on the evidence alone."""

import json
from hashlib import sha256
from typing import Any

import pytest

from assay.certify.bundle.attestation import (
    CYCLONEDX,
    TEST_RESULT,
    VULNERABILITIES,
    StatementContext,
    claims,
)
from assay.certify.bundle.bundle_manifest import Artifact
from assay.certify.bundle.manifest import BadManifest

ARTIFACT = Artifact("x.whl", "ab" * 32)
CONTEXT = StatementContext("p/1", "2030-01-01T00:00:00Z", ARTIFACT)


def check(name: str, status: str, scored: bool = True) -> dict[str, Any]:
    return {"id": name, "status": status, "scored": scored}


def result(*checks: dict[str, Any], conclusion: str = "met") -> dict[str, Any]:
    data = json.dumps({"checks": checks, "conclusion": conclusion}).encode()
    [claim] = claims({"summary.json": data, "profile.toml": b""}, CONTEXT).values()
    assert claim.predicate_type == TEST_RESULT
    return claim.predicate


def test_subjects_are_the_evidence_and_the_artifact() -> None:
    sbom = b'{"bomFormat":"CycloneDX"}'
    [(name, claim)] = claims({"sbom.cdx.json": sbom}, CONTEXT).items()
    assert name == "attestations/sbom.dsse.json"
    assert {subject.name: subject.digest.sha256 for subject in claim.subject} == {
        "sbom.cdx.json": sha256(sbom).hexdigest(),
        "x.whl": "ab" * 32,
    }
    assert (claim.predicate_type, claim.predicate) == (CYCLONEDX, {"bomFormat": "CycloneDX"})


def test_without_an_artifact_the_evidence_is_the_subject() -> None:
    [claim] = claims({"sbom.cdx.json": b"{}"}, StatementContext("p/1", "", None)).values()
    assert [subject.name for subject in claim.subject] == ["sbom.cdx.json"]


@pytest.mark.parametrize(
    ("statuses", "conclusion", "expected"),
    [
        (["SUCCESS", "SKIPPED"], "met", "PASSED"),
        (["SUCCESS", "WARNING"], "met", "WARNED"),
        (["SUCCESS", "WARNING", "FAILURE"], "not met", "FAILED"),
        (["SUCCESS", "SKIPPED"], "too little measured", "FAILED"),
    ],
)
def test_the_result_of_a_summary(statuses: list[str], conclusion: str, expected: str) -> None:
    checks = (check(str(n), status) for n, status in enumerate(statuses))
    assert result(*checks, conclusion=conclusion)["result"] == expected


def test_unscored_demands_are_not_attested() -> None:
    predicate = result(
        check("a", "SUCCESS"), check("b", "FAILURE", scored=False), check("c", "SUCCESS", scored=False)
    )
    assert (predicate["passedTests"], predicate["failedTests"]) == (["a"], [])
    assert predicate["configuration"][0]["name"] == "p/1"


def test_vulnerabilities_name_the_export_and_each_finding() -> None:
    report = {
        "exportSha256": "cd" * 32,
        "newest": "2029-12-31T00:00:00Z",
        "findings": [{"id": "X-1", "severity": [{"method": "CVSS_V3", "score": "9.8"}]}],
    }
    [claim] = claims({"vulnerabilities.json": json.dumps(report).encode()}, CONTEXT).values()
    scanner = claim.predicate["scanner"]
    assert claim.predicate_type == VULNERABILITIES
    assert scanner["db"] == {"uri": f"sha256:{'cd' * 32}", "lastUpdate": "2029-12-31T00:00:00Z"}
    assert scanner["result"] == [{"id": "X-1", "severity": [{"method": "CVSS_V3", "score": "9.8"}]}]


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"checks":[{}]}', b"\xff", b"[" * 100_000])
def test_invalid_evidence_is_refused(data: bytes) -> None:
    with pytest.raises(BadManifest, match=r"summary\.json does not have the expected format"):
        claims({"summary.json": data, "profile.toml": b""}, CONTEXT)


def test_an_artifact_with_the_name_of_evidence_is_refused() -> None:
    with pytest.raises(BadManifest, match="rename it"):
        claims({"sbom.cdx.json": b"{}"}, StatementContext("p/1", "", Artifact("sbom.cdx.json", "ab" * 32)))
