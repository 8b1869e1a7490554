"""Requirements are read from tables, and tables that cannot be used are refused with their place."""

from pathlib import Path

import pytest

from assay.lab.harness.coverage import Cover, cover, spoken_rows, tally
from assay.lab.harness.requirement import BadRequirement, Level, Requirement, read_requirements
from assay.lab.suites import protocol_suite
from assay.revisions.registry import BY_DATE, REVISIONS
from tests.meta.tree import expect_none

OLD, NEW = REVISIONS[0].date, REVISIONS[-1].date
TABLE = f"""
[XX-01]
actor = "server"
seen = "wire"
levels = {{ {OLD} = "MUST", {NEW} = "SHOULD NOT" }}
statement = "A rule"
page = {{ {OLD} = "basic", {NEW} = "basic/patterns#x" }}
"""


def read(tmp_path: Path, *texts: str) -> dict[str, Requirement]:
    for number, text in enumerate(texts):
        (tmp_path / f"area{number}.toml").write_text(text, "utf-8")
    return read_requirements(tmp_path)


def test_row_knows_its_level_and_page_at_each_revision(tmp_path: Path) -> None:
    row = read(tmp_path, TABLE)["XX-01"]
    assert [row.level(revision) for revision in REVISIONS] == [Level.MUST, None, None, None, Level.SHOULD_NOT]
    assert row.link(BY_DATE[NEW]).endswith(f"/specification/{NEW}/basic/patterns#x")
    assert row.area == "area0"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TABLE.replace('"MUST"', '"OUGHT"'), "Invalid enum value 'OUGHT'"),
        (TABLE.replace(f'{OLD} = "MUST"', '1999-01-01 = "MUST"'), "unknown revisions: 1999-01-01"),
        (TABLE.replace(f'{OLD} = "basic", ', ""), "a revision has no page"),
        (TABLE.replace('statement = "A rule"', ""), "missing required field `statement`"),
    ],
)
def test_table_that_cannot_be_used_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadRequirement, match=words):
        read(tmp_path, text)


def test_row_in_two_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequirement, match="XX-01 is in two places"):
        read(tmp_path, TABLE, TABLE)


def test_every_row_that_nothing_shows_carries_its_reason() -> None:
    expect_none(
        f"{row.id} cannot be seen from outside and says not why it has no check"
        for row in protocol_suite().requirements.values()
        if row.seen.value in ("inside", "policy") and not row.reason
    )


def test_coverage_counts_every_spoken_row_once() -> None:
    suite = protocol_suite()
    for revision in REVISIONS:
        rows = spoken_rows(suite, revision)
        assert sum(tally(rows, revision, suite).counts.values()) == len(rows)
    row = suite.requirements["BASE-06"]
    assert cover(row, REVISIONS[0], suite) is Cover.COVERED
    assert cover(suite.requirements["BASE-13"], REVISIONS[0], suite) is Cover.EXCLUDED
