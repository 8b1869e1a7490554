"""Requirements are read from tables, and tables that cannot be used are refused with their place."""

from pathlib import Path

import pytest

from assay.lab.harness.coverage import Cover, cover, spoken_rows, tally
from assay.lab.harness.requirement import (
    BadRequirement,
    Level,
    Requirement,
    Seen,
    client_requirements,
    read_requirements,
)
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
SHARED = TABLE.replace("XX-01", "XX-02").replace('"server"', '"both"') + 'reason = "Not of servers."\n'


def write(directory: Path, *texts: str) -> Path:
    directory.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (directory / f"area{number}.toml").write_text(text, "utf-8")
    return directory


def read(tmp_path: Path, *texts: str) -> dict[str, Requirement]:
    return read_requirements(write(tmp_path, *texts))


def read_of_clients(tmp_path: Path, shared: str, own: str) -> dict[str, Requirement]:
    return client_requirements(write(tmp_path / "shared", shared), write(tmp_path / "own", own))


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


def test_clients_have_their_own_rows_and_those_of_both_sides(tmp_path: Path) -> None:
    own = TABLE.replace("XX-01", "XX-03").replace('"server"', '"client"')
    assert read_of_clients(tmp_path, TABLE + SHARED, own).keys() == {"XX-02", "XX-03"}


@pytest.mark.parametrize(
    ("said", "reason"), [("", None), ('client_reason = "Not of clients."\n', "Not of clients.")]
)
def test_reason_of_a_shared_row_is_the_one_of_clients(tmp_path: Path, said: str, reason: str | None) -> None:
    assert read_of_clients(tmp_path, SHARED + said, "")["XX-02"].reason == reason


def test_own_row_says_a_shared_one_anew(tmp_path: Path) -> None:
    own = SHARED.replace('"wire"', '"process"').replace("Not of servers.", "Of clients.")
    row = read_of_clients(tmp_path, SHARED, own)["XX-02"]
    assert (row.seen, row.reason) == (Seen.PROCESS, "Of clients.")


def test_own_row_with_the_id_of_a_servers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequirement, match=r"area0\.toml: XX-01 is a row of servers"):
        read_of_clients(tmp_path, TABLE, TABLE.replace('"server"', '"client"'))


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
