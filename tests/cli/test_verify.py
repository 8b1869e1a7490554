"""`assay verify`: on the command line, offline, with exit codes."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay.cli.main import main
from tests.certify import bundles
from tests.certify.bundles import DEVELOPER, HARNESS

Verify = Callable[..., int]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("verify")
    (place / "dev.pub").write_bytes(DEVELOPER.public.pem())
    (place / "dev.key").write_bytes(DEVELOPER.pem())
    (place / "harness.pub").write_bytes(HARNESS.public.pem())
    (place / "server.whl").write_bytes(bundles.WHEEL)
    bundles.make(place / "evidence", datetime.now(UTC) - timedelta(days=2))
    return place


@pytest.fixture
def at(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = Path(shutil.copytree(good, tmp_path / "here"))
    monkeypatch.chdir(place)
    return place


def test_a_good_bundle(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "evidence", "--trust", "dev.pub", "--trust-harness", "harness.pub"]) == 0
    out = capsys.readouterr().out
    last = out.splitlines()[-1]
    assert last.startswith("verified: my-server 1.0, intelgraph/2026-11: incomplete: ")
    assert last.endswith(" not measured (compared byte by byte); metrics of a trusted harness")
    assert "files         good        17 files" in out


def test_every_option(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--max-age", "90d", "--artifact", "server.whl", "--rejudge"]
    assert main(["verify", "evidence", "--trust", "dev.pub", *options]) == 0
    out = capsys.readouterr().out
    assert "rejudge       good        4 traces" in out
    assert out.splitlines()[-1].endswith("; self-attested")


def test_json(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (at / "evidence" / "badge.json").write_text("{}")
    assert main(["verify", "evidence", "--trust", "dev.pub", "--format", "json"]) == 1
    expected = json.loads(capsys.readouterr().out)
    assert expected["verified"] is False
    assert expected["refusals"] == [
        {"reason": "changed-file", "where": "badge.json", "detail": "not the file that was signed"}
    ]
    assert expected["manifest"]["server"] == {"name": "my-server", "version": "1.0"}
    assert [step["status"] for step in expected["steps"]][:4] == ["good", "good", "refused", "not reached"]


def test_a_refused_bundle_says_why_and_where(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (at / "evidence" / "more").write_text("")
    assert main(["verify", "evidence", "--trust", "dev.pub"]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "refused: added-file: more: the manifest does not list it"
    assert "profile       not reached" in out


def test_too_old(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "evidence", "--trust", "dev.pub", "--max-age", "12h"]) == 1
    assert "refused: too-old: MANIFEST.json" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("verify evidence", 2, "required: --trust"),
        ("verify --trust dev.pub", 2, "required: DIR"),
        ("verify evidence --trust nothing.pub", 2, "cannot read nothing.pub"),
        ("verify evidence --trust dev.key", 2, "dev.key is a private key: use the .pub file"),
        ("verify evidence --trust dev.pub --max-age soon", 2, "not a length of time: write 90d, 12h or 30m"),
        ("verify evidence --trust dev.pub --max-age 0d", 2, "not a length of time"),
        ("verify nothing --trust dev.pub", 3, "cannot read nothing: No such file"),
        ("verify dev.pub --trust dev.pub", 3, "dev.pub is not a directory"),
        ("verify evidence --trust dev.pub --artifact nothing", 3, "cannot read nothing: No such file"),
    ],
)
def test_what_cannot_be_done(
    at: Path, capsys: pytest.CaptureFixture[str], line: str, code: int, expected: str
) -> None:
    assert main(line.split()) == code
    captured = capsys.readouterr()
    assert expected in captured.err
    assert captured.out == ""


def test_what_a_bundle_says_moves_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dev.pub").write_bytes(DEVELOPER.public.pem())
    bundles.make(tmp_path / "evidence", datetime.now(UTC), version="1\x1b[2J\nverified: all")
    assert main(["verify", str(tmp_path / "evidence"), "--trust", str(tmp_path / "dev.pub")]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "␛[2J␊verified: all" in out
