"""The page about coverage is made from the catalogue. That it is fresh is checked before a change lands.

Not here: whoever adds to the suite would have to make the page again for every file. `.ci/run` compares.
"""

from pathlib import Path

import pytest

from assay.lab.suites import protocol_suite
from assay.revisions.registry import REVISIONS
from scripts import coverage_page

SUITE = protocol_suite()
PAGE = coverage_page.page(SUITE)


def test_every_rule_is_on_the_page_once_as_testable_or_excluded() -> None:
    _, _, tail = PAGE.partition("## Every rule")
    for row in SUITE.requirements.values():
        if row.reason is None:
            assert tail.count(f"\n| {row.id} |") == 1
        else:
            assert f"\n| {row.id} |" not in tail and row.id in tail.partition("## Excluded")[2]


def test_every_revision_and_area_has_its_figures() -> None:
    for revision in REVISIONS:
        assert f"\n| {revision} |" in PAGE
    for area in {one.area for one in SUITE.saboteurs.values()}:
        assert f"\n| {area} |" in PAGE


def test_stale_page_is_told_and_can_be_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coverage_page, "PAGE", tmp_path / "coverage.md")
    assert coverage_page.main(["--check"]) == 1
    assert "make coverage" in capsys.readouterr().err
    assert coverage_page.main([]) == 0
    assert coverage_page.main(["--check"]) == 0
