"""The severity of a record."""

import pytest

from assay.certify.vulnerabilities.osv_export import Severity
from assay.certify.vulnerabilities.severity import Rating, SeverityLevel, rate

V2 = Severity("CVSS_V2", "AV:N/AC:L/Au:N/C:C/I:C/A:C")
V3 = Severity("CVSS_V3", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H")
V3_HIGH = Severity("CVSS_V3", "CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:H/I:H/A:H")
V4_HIGH = Severity("CVSS_V4", "CVSS:4.0/AV:N/AC:L/AT:P/PR:N/UI:P/VC:H/VI:H/VA:H/SC:L/SI:L/SA:L")
NONSENSE = Severity("CVSS_V3", "CVSS:3.1/nonsense")


@pytest.mark.parametrize(
    ("severities", "word", "rating"),
    [
        ([V3], None, Rating(SeverityLevel.CRITICAL, "CVSS_V3", "9.8")),
        ([V3_HIGH], None, Rating(SeverityLevel.HIGH, "CVSS_V3", "7.5")),
        ([V2], None, Rating(SeverityLevel.CRITICAL, "CVSS_V2", "10.0")),
        ([V2, V3_HIGH], None, Rating(SeverityLevel.HIGH, "CVSS_V3", "7.5")),
        ([], "critical", Rating(SeverityLevel.CRITICAL, "database", "critical")),
        ([], "MODERATE", Rating(SeverityLevel.MEDIUM, "database", "MODERATE")),
        ([V3_HIGH], "CRITICAL", Rating(SeverityLevel.CRITICAL, "database", "CRITICAL")),
        ([V3], "LOW", Rating(SeverityLevel.CRITICAL, "CVSS_V3", "9.8")),
        ([NONSENSE, V2], None, Rating(SeverityLevel.CRITICAL, "CVSS_V2", "10.0")),
        ([NONSENSE], None, Rating(SeverityLevel.UNSCORED)),
        ([Severity("Ubuntu", "high")], None, Rating(SeverityLevel.UNSCORED)),
        ([], "unheard of", Rating(SeverityLevel.UNSCORED)),
        ([], None, Rating(SeverityLevel.UNSCORED)),
    ],
)
def test_the_worse_of_cvss_score_and_database_rating_counts(
    severities: list[Severity], word: str | None, rating: Rating
) -> None:
    assert rate(severities, {"severity": word}) == rating


def test_the_fourth_version_comes_before_the_third() -> None:
    assert rate([V3, V4_HIGH], None).method == "CVSS_V4"


@pytest.mark.parametrize("database", [None, {}, {"severity": 9}, {"severity": ["CRITICAL"]}])
def test_an_invalid_database_rating_is_ignored(database: dict[str, object] | None) -> None:
    assert rate(None, database).level is SeverityLevel.UNSCORED
