"""Evidence without traces: modified files are detected."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from assay.certify import evidence
from assay.certify.bundle import layout, sbom, statement
from assay.certify.bundle.supply_chain import python_keys
from assay.certify.evidence import (
    SBOM,
    SIGNATURE,
    VULNERABILITIES,
    Installed,
    judge_sbom,
    judge_signature,
    judge_vulnerabilities,
)
from assay.certify.scoring import Evidence
from assay.certify.vulnerabilities import report as vulnerabilities
from assay.certify.vulnerabilities.osv import ScanResult
from assay.lab.harness.verdict import Verdict
from assay.signing import dsse, keys
from assay.signing.dsse import Role, Trust
from tests.certify.environments import environment, installed
from tests.certify.runs import PROFILE

NOW = datetime(2030, 1, 1, tzinfo=UTC)
THERE = environment(installed("Some.Thing"), installed("mcp", "some-thing"))
BILL = sbom.describe(THERE, serial=UUID(int=1), time=NOW)
INSTALLED = Installed(frozenset(python_keys(THERE)), frozenset({"pypi"}))
DEVELOPER = keys.generate()
TRUST = Trust([(DEVELOPER.public, Role.DEVELOPER)])
CLAIM = statement.encode(statement.statement({"run/run.json": "0f" * 32}, "https://example.org/x", {}))


def doctored(change: Callable[[dict[str, Any]], object]) -> bytes:
    document = json.loads(BILL)
    change(document)
    return json.dumps(document).encode()


def test_an_sbom_of_the_installed_packages() -> None:
    assert judge_sbom(BILL, INSTALLED).status is Verdict.SUCCESS


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{}", "neither CycloneDX nor SPDX"),
        (b"no JSON", "not an SBOM"),
        (doctored(lambda bill: bill.update(specVersion="9")), "its specVersion is '9'"),
        (doctored(lambda bill: bill["components"].pop(1)), "installed but not listed"),
        (
            doctored(lambda bill: bill["components"][1].update(version="0.9", purl="pkg:pypi/mcp@0.9")),
            "installed but not listed",
        ),
        (
            doctored(
                lambda bill: bill["components"].append(
                    {"type": "library", "name": "x", "version": "1", "purl": "pkg:pypi/x@1"}
                )
            ),
            "listed but not installed: x 1",
        ),
    ],
)
def test_a_modified_sbom_fails(data: bytes, reason: str) -> None:
    judged = judge_sbom(data, INSTALLED)
    assert judged.status is Verdict.FAILURE
    assert reason in judged.reason


def test_an_invalid_vulnerability_report_fails() -> None:
    assert judge_vulnerabilities(b"{}", NOW, Evidence(Verdict.SUCCESS)).status is Verdict.FAILURE


COMPARED, NOT_COMPARED = Evidence(Verdict.SUCCESS), Evidence(Verdict.SKIPPED)


@pytest.mark.parametrize(
    ("uncovered", "bill", "status"),
    [
        ((), COMPARED, Verdict.SUCCESS),
        (("PyPI",), COMPARED, Verdict.SKIPPED),
        ((), NOT_COMPARED, Verdict.SKIPPED),
    ],
)
def test_an_export_or_an_sbom_that_leaves_packages_out_proves_nothing(
    uncovered: tuple[str, ...], bill: Evidence, status: Verdict
) -> None:
    """An author could take an export of another ecosystem, or leave a package out of an SBOM."""
    scan = ScanResult((), (), (), 7, NOW.isoformat(), "ab" * 32, uncovered)
    judged = judge_vulnerabilities(vulnerabilities.encode(vulnerabilities.describe(scan)), NOW, bill)
    assert judged.status is status
    assert status is Verdict.SUCCESS or judged.options


def test_a_signature_of_the_developer() -> None:
    judged = judge_signature(dsse.sign(CLAIM, DEVELOPER), TRUST)
    assert judged == Evidence(Verdict.SUCCESS, f"signed with {DEVELOPER.public.id}")


@pytest.mark.parametrize(
    ("envelope", "reason"),
    [
        (dsse.sign(CLAIM, keys.generate()), "unknown-key"),
        (dsse.sign(CLAIM, DEVELOPER, "text/plain"), "wrong-type"),
        (dsse.sign(CLAIM, DEVELOPER).replace(b'"sig":"', b'"sig":"AAAA'), "bad-signature"),
        (b"{}", "malformed"),
    ],
)
def test_an_invalid_signature_fails(envelope: bytes, reason: str) -> None:
    judged = judge_signature(envelope, TRUST)
    assert judged.status is Verdict.FAILURE
    assert judged.reason.startswith(reason)


def test_stored_evidence_without_its_file_is_skipped() -> None:
    good = Evidence(Verdict.SUCCESS, "well")
    claimed = {SBOM: good, VULNERABILITIES: good, SIGNATURE: good}
    judged = evidence.rebuild(claimed, {}, "2030-01-01T00:00:00Z", PROFILE)
    assert judged[SBOM].status is judged[VULNERABILITIES].status is Verdict.SKIPPED


def test_a_file_is_judged_again_and_earlier_failures_are_kept() -> None:
    bad = Evidence(Verdict.FAILURE, "installed but not listed: x 1")
    claimed = {SBOM: bad, VULNERABILITIES: bad, SIGNATURE: bad}
    assert evidence.rebuild(claimed, {layout.SBOM: BILL}, "2030-01-01T00:00:00Z", PROFILE)[SBOM] == bad
    good = {**claimed, SBOM: Evidence(Verdict.SUCCESS)}
    judged = evidence.rebuild(good, {layout.SBOM: b"{}"}, "2030-01-01T00:00:00Z", PROFILE)
    assert judged[SBOM].status is Verdict.FAILURE
