"""Bundles with a run of format 1 stay good. The last version that wrote them made the one in the archive."""

import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.certify import summary
from assay.certify.scoring import Measure
from assay.certify.verification.procedure import verify
from assay.lab.harness.reason import ReasonKind
from assay.signing.dsse import Role, Trust
from assay.signing.keys import read_public_key
from contrib import verify_bundle as second

STORED = Path(__file__).with_name("bundle_version_1.zip")
NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with zipfile.ZipFile(STORED) as archive:
        archive.extractall(tmp_path)
    return tmp_path


@pytest.mark.parametrize("rejudge", [False, True])
def test_assay_verify_accepts_it(home: Path, rejudge: bool) -> None:
    trust = Trust([(read_public_key(home / "dev.pub"), Role.DEVELOPER)])
    report = verify(home / "bundle", trust, now=NOW, rejudge=rejudge)
    assert (report.refusals, report.ok) == ((), True)


def test_the_independent_verifier_accepts_it(home: Path) -> None:
    assert second.verify(home / "bundle", (home / "dev.pub").read_bytes(), NOW)["v"] == 1


def test_its_summary_has_kinds(home: Path) -> None:
    stored = summary.read((home / "bundle" / "summary.json").read_bytes())
    assert {score.reason_kind for score in stored.checks if score.measure is not Measure.MEASURED} == {
        ReasonKind.NOT_APPLICABLE,
        ReasonKind.NEEDS_OPTION,
        ReasonKind.NOT_SELECTED,
        ReasonKind.NOT_OBSERVED,
        ReasonKind.NO_CHECK,
    }
