"""Bundles with a summary of version 1 stay good. The last version that wrote them made the one in the
archive: two platforms in its metrics, a latency under stdio, and a badge that calls a second key
independent."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.certify import badge, summary
from assay.certify.bundle import layout
from assay.certify.verification.procedure import VerificationReport, verify
from assay.signing.dsse import Role, Trust
from assay.signing.keys import read_public_key
from contrib import verify_bundle as second

STORED = Path(__file__).with_name("bundle_summary_1.zip")
NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with zipfile.ZipFile(STORED) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def verified(home: Path, *roles: tuple[str, Role], rejudge: bool = False) -> VerificationReport:
    trust = Trust([(read_public_key(home / name), role) for name, role in roles])
    return verify(home / "bundle", trust, now=NOW, rejudge=rejudge)


@pytest.mark.parametrize("rejudge", [False, True])
def test_both_verifiers_accept_it(home: Path, rejudge: bool) -> None:
    report = verified(home, ("dev.pub", Role.DEVELOPER), rejudge=rejudge)
    assert report.refusals == ()
    assert second.verify(home / "bundle", (home / "dev.pub").read_bytes(), NOW)["v"] == 1


def test_summary_and_badge_are_rebuilt_byte_for_byte(home: Path) -> None:
    files = {
        path.relative_to(home / "bundle").as_posix(): path.read_bytes()
        for path in (home / "bundle").rglob("*.*")
    }
    assert summary.rebuild(files) == files[layout.SUMMARY]
    assert badge.badge(files[layout.SUMMARY]) == files[layout.BADGE]
    assert badge.shields(files[layout.SUMMARY]) == files[layout.SHIELDS]


def test_its_badge_claims_a_harness_but_the_verifier_decides(home: Path) -> None:
    assert json.loads((home / "bundle" / layout.BADGE).read_bytes())["selfAttested"] is False
    assert verified(home, ("dev.pub", Role.DEVELOPER)).self_attested
    both = ("dev.pub", Role.DEVELOPER), ("harness.pub", Role.HARNESS)
    assert not verified(home, *both).self_attested
