"""Modified bundles are refused with a reason; both verifiers detect broken integrity."""

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.certify.bundle.layout import MANIFEST
from assay.certify.verification.procedure import verify
from contrib import verify_bundle as second
from tests.certify import bundles
from tests.certify.bundles import DEVELOPER, NOW
from tests.certify.tamperings import FORGED, OTHER_REASONS, WITH_KEY, WITHOUT_KEY, rows

ANYBODY, BROKEN, LIED = rows(WITHOUT_KEY), rows(WITH_KEY), rows(FORGED)
BOTH = ANYBODY | BROKEN
FLIPPED = ("malformed", "bad-signature", "wrong-type", "unknown-key")
NAMES = (
    "MANIFEST.json", "attestations/sbom.dsse.json", "attestations/summary.dsse.json",
    "attestations/vulnerabilities.dsse.json", "badge.json", "metrics.json", "profile.toml", "report.html",
    "report.md", "run/run.json", "sbom.cdx.json", "shields.json", "summary.json", "vulnerabilities.json",
)  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundles.make(tmp_path_factory.mktemp("good") / "evidence")


@pytest.fixture
def bundle(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "evidence"))


def ours(directory: Path, **options: Any) -> str | None:
    refusals = verify(directory, bundles.TRUST, **{"now": NOW, **options}).refusals
    return refusals[0].reason if refusals else None


def theirs(directory: Path, **options: Any) -> str | None:
    pem = DEVELOPER.public.pem()
    try:
        second.verify(
            directory, pem, options.get("now", NOW), options.get("max_age"), options.get("artifact")
        )
    except second.Refused as error:
        return str(error.args[0])
    return None


def test_the_bundle_itself_is_good(bundle: Path) -> None:
    assert ours(bundle) is None
    assert theirs(bundle) is None
    names = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    assert {name for name in names if not name.endswith(".ndjson")} == set(NAMES)


@pytest.mark.parametrize("where", [0, 0.5, -1], ids=["first", "middle", "last"])
@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_bit_in_any_file(bundle: Path, name: str, where: float) -> None:
    data = bytearray((bundle / name).read_bytes())
    data[int(len(data) * where) if where > 0 else int(where)] ^= 1
    (bundle / name).write_bytes(data)
    reason = ours(bundle)
    assert reason in FLIPPED if name == MANIFEST else reason == "changed-file"
    assert theirs(bundle) == reason


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_byte_of_any_file_counts(bundle: Path, data: st.DataObject) -> None:
    paths = sorted(path for path in bundle.rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(paths))
    before = path.read_bytes()
    place = data.draw(st.integers(0, len(before) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != before[place]))
    path.write_bytes(before[:place] + bytes([other]) + before[place + 1 :])
    reasons = ours(bundle), theirs(bundle)
    path.write_bytes(before)
    assert reasons[0] in (*FLIPPED, "changed-file", "several-signatures", "unsigned")
    assert reasons[0] == reasons[1]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_dropped(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    assert (ours(bundle), theirs(bundle)) == ("missing-file", "missing-file")


@pytest.mark.parametrize("name", NAMES[1:])
def test_a_file_is_replaced_by_a_link_to_itself(bundle: Path, tmp_path: Path, name: str) -> None:
    shutil.move(bundle / name, tmp_path / "elsewhere")
    (bundle / name).symlink_to(tmp_path / "elsewhere")
    assert (ours(bundle), theirs(bundle)) == ("unfit-file", "unfit-file")


@pytest.mark.parametrize(("left", "right"), list(pairwise(NAMES[1:])))
def test_two_files_are_swapped(bundle: Path, left: str, right: str) -> None:
    first, last = (bundle / left).read_bytes(), (bundle / right).read_bytes()
    (bundle / left).write_bytes(last)
    (bundle / right).write_bytes(first)
    assert (ours(bundle), theirs(bundle)) == ("changed-file", "changed-file")


@pytest.mark.parametrize("name", BOTH)
def test_both_verifiers_refuse_broken_integrity_with_a_reason(bundle: Path, name: str) -> None:
    row = BOTH[name]
    row.change_files(bundle)
    assert ours(bundle, **row.options) == row.reason
    assert theirs(bundle, **row.options) == OTHER_REASONS.get(name, row.reason)


@pytest.mark.parametrize("name", LIED)
def test_a_forgery_by_the_key_owner_is_detected_only_by_assay_verify(bundle: Path, name: str) -> None:
    """The independent verifier checks only that the files are the signed ones."""
    row = LIED[name]
    row.change_files(bundle)
    assert ours(bundle, **row.options) == row.reason
    assert theirs(bundle, **row.options) is None


def test_the_number_of_tamperings() -> None:
    flipped, dropped, linked, swapped = 3 * len(NAMES), len(NAMES), len(NAMES) - 1, len(NAMES) - 2
    in_any_file = flipped + dropped + linked + swapped
    assert (len(ANYBODY), len(BROKEN), len(LIED), in_any_file) == (50, 46, 47, 81)
    assert len(OTHER_REASONS.keys() & ANYBODY.keys()) == 4
    assert OTHER_REASONS.keys() <= BOTH.keys()


def artifacts(tmp_path: Path) -> Iterator[Path]:
    for name, data in {"right": bundles.WHEEL, "wrong": b"another"}.items():
        (tmp_path / name).write_bytes(data)
        yield tmp_path / name


def test_another_artifact(bundle: Path, tmp_path: Path) -> None:
    right, wrong = artifacts(tmp_path)
    assert (ours(bundle, artifact=right), theirs(bundle, artifact=right)) == (None, None)
    assert (ours(bundle, artifact=wrong), theirs(bundle, artifact=wrong)) == ("wrong-artifact",) * 2
