"""Bundles of other versions of Assay: their wording may differ, their facts may not."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.certify.verification.procedure import VerificationReport, verify
from tests.certify import bundles
from tests.certify.bundles import NOW, TRUST, edit

Change = Callable[[dict[str, Any]], object]
OLDER = "0.0.9"
FACTS = "facts compared, not the wording of version 0.0.9"


def reworded(summary: dict[str, Any]) -> None:
    for score in summary["checks"]:
        score["title"] = f"In other words, {score['title']}"
        score["reason"] = score["reason"] and f"in other words, {score['reason']}"
        for result in score["results"]:
            result["reason"] = "in other words"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle as an older version with other wording would have written it."""
    bundle = bundles.make(tmp_path_factory.mktemp("older") / "evidence")
    edit(bundle / "run" / "run.json", lambda run: run.update(assay=OLDER))
    bundles.finish_again(bundle)
    edit(bundle / "summary.json", reworded)
    bundles.attest_again(bundle)
    edit(bundle / "badge.json", lambda badge: badge["checks"].pop("transport.sse.resume"))
    edit(bundle / "shields.json", lambda shield: shield.update(label="profile"))
    bundles.sign_again(bundle)
    return bundle


@pytest.fixture
def older(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "evidence"))


def causes(report: VerificationReport) -> list[tuple[str, str]]:
    return [(entry.reason, entry.where) for entry in report.refusals]


def test_other_wording_of_another_version_is_accepted(written: Path) -> None:
    report = verify(written, TRUST, now=NOW, rejudge=True)
    assert causes(report) == []
    notes = {step.name: step.note for step in report.steps}
    assert FACTS in notes["summary"]
    assert FACTS in notes["badge"]


def test_other_wording_of_the_same_version_is_refused(tmp_path: Path) -> None:
    bundle = bundles.make(tmp_path / "evidence")
    notes = {step.name: step.note for step in verify(bundle, TRUST, now=NOW).steps}
    assert "compared byte by byte" in notes["summary"]
    assert "compared byte by byte" in notes["badge"]
    edit(bundle / "summary.json", reworded)
    bundles.attest_again(bundle)
    assert causes(verify(bundle, TRUST, now=NOW)) == [("wrong-summary", "summary.json")]


def measured(summary: dict[str, Any]) -> dict[str, Any]:
    return next(entry for entry in summary["checks"] if entry["results"] and entry["status"] == "SUCCESS")


def unmeasured(summary: dict[str, Any]) -> dict[str, Any]:
    return next(entry for entry in summary["checks"] if entry["measure"] == "not measured")


SUMMARIES: dict[str, Change] = {
    "counts": lambda s: s["summary"].update(passed=61, scored=61),
    "conclusion": lambda s: s.update(conclusion="met"),
    "a status": lambda s: measured(s).update(status="WARNING"),
    "a verdict of one place": lambda s: measured(s)["results"][0].update(status="SKIPPED"),
    "a place left out": lambda s: measured(s)["results"].pop(),
    "a pass": lambda s: unmeasured(s).update({"pass": True}),
    "a measure": lambda s: unmeasured(s).update(measure="measured", status="SUCCESS"),
    "what is scored": lambda s: measured(s).update(scored=False),
    "fewer demands": lambda s: s["checks"].pop(),
    "other order of demands": lambda s: s["checks"].reverse(),
    "categories": lambda s: s["categories"].update({next(iter(s["categories"])): "fail"}),
    "server": lambda s: s["server"].update(protocolVersions=[]),
    "profile": lambda s: s["profile"].update(sha256="0" * 64),
    "version of Assay": lambda s: s["tool"].update(version="0.0.8"),
    "expiry": lambda s: s.update(expiresAt="2031-01-01T00:00:00Z"),
    "digest of the run": lambda s: s["run"].update(sha256="0" * 64),
    "digest of evidence": lambda s: s["evidence"][0].update(sha256="0" * 64),
    "latency": lambda s: s["latency"].update(sse_ms={"p95": 1}),
    "vulnerabilities": lambda s: s["vulnerabilities"].update(low=1),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_summary_with_other_facts_is_refused(older: Path, name: str) -> None:
    edit(older / "summary.json", SUMMARIES[name])
    bundles.attest_again(older)
    assert set(causes(verify(older, TRUST, now=NOW))) == {("wrong-summary", "summary.json")}


BADGES: dict[str, tuple[str, Change]] = {
    "another figure": ("badge.json", lambda b: b.update(passed=61)),
    "true for a figure": ("badge.json", lambda b: b.update(selfAttested=0)),
    "another state": ("badge.json", lambda b: b["checks"].update({"jsonrpc.negatives": "pass"})),
    "an unknown check": ("badge.json", lambda b: b["checks"].update(all="pass")),
    "another latency": ("badge.json", lambda b: b["latency"].update({"sse.p95_ms": 1})),
    "of another summary": ("badge.json", lambda b: b.update(summarySha256="0" * 64)),
    "less than a badge": ("badge.json", lambda b: b.pop("conclusion")),
    "no checks at all": ("badge.json", lambda b: b.update(checks=None)),
    "another message": ("shields.json", lambda s: s.update(message="61/61")),
    "another colour": ("shields.json", lambda s: s.update(color="brightgreen")),
    "no message": ("shields.json", lambda s: s.pop("message")),
}


@pytest.mark.parametrize("name", BADGES)
def test_a_badge_with_other_facts_is_refused(older: Path, name: str) -> None:
    file, change = BADGES[name]
    edit(older / file, change)
    bundles.sign_again(older)
    assert causes(verify(older, TRUST, now=NOW)) == [("wrong-badge", file)]


def excused(summary: dict[str, Any], demand: str) -> None:
    score = next(entry for entry in summary["checks"] if entry["id"] == demand)
    score.update(measure="not applicable", reason="in other words")


@pytest.mark.parametrize(
    ("demand", "status"), [("CONF-SEC-04.host", "good"), ("CONF-CAP-03.prompts.version", "refused")]
)
def test_rejudging_compares_whether_a_demand_applies_and_not_its_wording(
    older: Path, demand: str, status: str
) -> None:
    edit(older / "summary.json", lambda summary: excused(summary, demand))
    bundles.attest_again(older)
    steps = {step.name: step.status for step in verify(older, TRUST, now=NOW, rejudge=True).steps}
    assert steps["rejudge"] == status
