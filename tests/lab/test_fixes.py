"""Every finding says what to change."""

from pathlib import Path

import pytest

from assay.lab.harness.fix import BadFixes, read_fixes
from assay.lab.suites import SHIPPED, suite_named


@pytest.mark.parametrize("name", SHIPPED)
def test_every_requirement_that_a_check_can_find_broken_has_a_fix(name: str) -> None:
    suite = suite_named(name)
    missing = [
        (check.id, requirement)
        for check in suite.checks.values()
        for requirement in check.requirements
        if not (suite.requirements[requirement].fix or check.fix)
    ]
    assert missing == []


@pytest.mark.parametrize("name", SHIPPED)
def test_fix_is_one_or_more_sentences(name: str) -> None:
    suite = suite_named(name)
    fixes = [part.fix for part in (*suite.requirements.values(), *suite.checks.values()) if part.fix]
    assert fixes
    assert [fix for fix in fixes if not fix[0].isupper() or not fix.endswith(".") or len(fix) > 200] == []


def test_suite_without_the_file_has_no_fixes(tmp_path: Path) -> None:
    assert read_fixes(tmp_path).requirements == {}


@pytest.mark.parametrize("text", ["[other]\n", "requirements = 1\n", "["])
def test_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "fixes.toml").write_text(text, "utf-8")
    with pytest.raises(BadFixes, match=r"fixes\.toml"):
        read_fixes(tmp_path)
