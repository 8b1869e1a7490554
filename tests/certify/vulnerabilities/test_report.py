"""The vulnerability report: critical vulnerabilities fail, and so do unscored ones."""

from datetime import UTC, datetime, timedelta

import pytest

from assay.certify.vulnerabilities.osv import Match, ScanResult, UndecidedMatch
from assay.certify.vulnerabilities.report import (
    BadReport,
    VulnerabilityReport,
    describe,
    encode,
    judge,
    read,
    useless_waivers,
)
from assay.certify.vulnerabilities.severity import Rating, SeverityLevel
from assay.lab.harness.verdict import Verdict

NOW = datetime(2030, 1, 8, tzinfo=UTC)
L = SeverityLevel


def match(name: str, level: SeverityLevel, *aliases: str, package: str = "mcp") -> Match:
    return Match(name, package, "1.0", "bad", "1.1", aliases, Rating(level, "CVSS_V3", "5.0"))


def report(
    *findings: Match,
    undecided: tuple[UndecidedMatch, ...] = (),
    newest: str = "2030-01-02T00:00:00Z",
    waived: tuple[str, ...] = (),
) -> VulnerabilityReport:
    return describe(ScanResult(findings, undecided, ("cpython",), 7, newest, "ab" * 32), waived)


@pytest.mark.parametrize(
    ("findings", "waived", "verdict"),
    [
        ((), (), Verdict.SUCCESS),
        ((match("A", L.HIGH),), (), Verdict.SUCCESS),
        ((match("A", L.CRITICAL),), (), Verdict.FAILURE),
        ((match("A", L.CRITICAL),), ("A",), Verdict.FAILURE),
        ((match("A", L.UNSCORED),), (), Verdict.FAILURE),
        ((match("A", L.UNSCORED),), ("A",), Verdict.SUCCESS),
        ((match("A", L.UNSCORED, "CVE-1"),), ("CVE-1",), Verdict.SUCCESS),
        ((match("A", L.UNSCORED), match("B", L.UNSCORED)), ("A",), Verdict.FAILURE),
        ((match("A", L.UNSCORED, "B"), match("B", L.HIGH)), (), Verdict.SUCCESS),
        (
            (match("A", L.UNSCORED, "B"), match("B", L.CRITICAL)),
            ("A", "B"),
            Verdict.FAILURE,
        ),
        (
            (match("A", L.UNSCORED, "B"), match("B", L.HIGH, package="x")),
            (),
            Verdict.FAILURE,
        ),
    ],
)
def test_which_findings_fail(findings: tuple[Match, ...], waived: tuple[str, ...], verdict: Verdict) -> None:
    assert judge(report(*findings, waived=waived), NOW).status is verdict


def test_an_undecided_record_fails_until_it_is_waived() -> None:
    doubt = (UndecidedMatch("A", "mcp", "1.0", "versions that do not compare"),)
    assert "--waive" in judge(report(undecided=doubt), NOW).reason
    assert judge(report(undecided=doubt), NOW).status is Verdict.FAILURE
    assert judge(report(undecided=doubt, waived=("A",)), NOW).status is Verdict.SUCCESS


@pytest.mark.parametrize("newest", ["2029-12-31T23:59:59Z", "no date", "2029-01-01"])
def test_an_outdated_export_is_a_warning(newest: str) -> None:
    assert judge(report(newest=newest), NOW).status is Verdict.WARNING


def test_an_export_up_to_a_week_old_is_fresh() -> None:
    newest = (NOW - timedelta(days=7)).isoformat()
    assert judge(report(newest=newest), NOW).status is Verdict.SUCCESS


def test_aliases_of_a_vulnerability_count_once() -> None:
    written = report(
        match("A", L.UNSCORED, "CVE-1"),
        match("B", L.HIGH, "CVE-1"),
        match("C", L.LOW),
    )
    assert written.counts == {"critical": 0, "high": 1, "medium": 0, "low": 1, "unscored": 0}


def test_useless_waivers_are_reported() -> None:
    assert useless_waivers(report(match("A", L.UNSCORED), waived=("A", "Z"))) == ["Z"]


def test_a_report_survives_encoding_and_decoding() -> None:
    written = report(match("A", L.HIGH, "CVE-1"), waived=("Z",))
    assert read(encode(written)) == written


@pytest.mark.parametrize("data", [b"", b"{}", b"[" * 100_000])
def test_an_invalid_report_is_refused(data: bytes) -> None:
    with pytest.raises(BadReport, match="not a vulnerability report"):
        read(data)
