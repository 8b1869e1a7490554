"""The coverage page is generated from the catalogue; `.ci/run` checks that it is up to date."""

from pathlib import Path

import pytest

from assay.lab.harness.catalogue import Suite
from assay.lab.suites import protocol_suite, suite_named
from assay.revisions.registry import REVISIONS
from scripts import coverage_page

SUITES = (protocol_suite(), suite_named("client"))
of_each = pytest.mark.parametrize("suite", SUITES, ids=lambda suite: str(suite.name))


@of_each
def test_every_requirement_is_on_the_page_once_as_testable_or_excluded(suite: Suite) -> None:
    _, _, tail = coverage_page.page(suite).partition("## Testable requirements")
    for row in suite.requirements.values():
        if row.reason is None:
            assert tail.count(f"\n| {row.id} |") == 1
        else:
            assert f"\n| {row.id} |" not in tail and row.id in tail.partition("## Excluded")[2]


@of_each
def test_every_revision_and_area_has_its_figures(suite: Suite) -> None:
    page = coverage_page.page(suite)
    for revision in REVISIONS:
        assert f"\n| {revision} |" in page
    for area in {fault.area for fault in suite.faults.values()}:
        assert f"\n| {area} |" in page


def test_stale_page_is_told_and_can_be_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coverage_page, "PAGE", tmp_path / "coverage.md")
    assert coverage_page.main(["--check"]) == 1
    assert "make coverage" in capsys.readouterr().err
    assert coverage_page.main([]) == 0
    assert coverage_page.main(["--check"]) == 0
    assert all(coverage_page.page(suite) in (tmp_path / "coverage.md").read_text("utf-8") for suite in SUITES)
