"""Requirements are read from tables; invalid tables are refused with their location."""

from pathlib import Path

import pytest

from assay.lab.harness.coverage import Cover, cover, explicit_requirements, tally
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


def test_requirement_has_level_and_page_by_revision(tmp_path: Path) -> None:
    requirement = read(tmp_path, TABLE)["XX-01"]
    levels = [requirement.level(revision) for revision in REVISIONS]
    assert levels == [Level.MUST, None, None, None, Level.SHOULD_NOT]
    assert requirement.link(BY_DATE[NEW]).endswith(f"/specification/{NEW}/basic/patterns#x")
    assert requirement.area == "area0"


def test_requirement_binds_servers_on_the_wire_by_default(tmp_path: Path) -> None:
    short = TABLE.replace('actor = "server"\nseen = "wire"\n', "")
    assert read(tmp_path / "short", short) == read(tmp_path / "full", TABLE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TABLE.replace('"MUST"', '"OUGHT"'), "Invalid enum value 'OUGHT'"),
        (TABLE.replace(f'{OLD} = "MUST"', '1999-01-01 = "MUST"'), "unknown revisions: 1999-01-01"),
        (TABLE.replace(f'{OLD} = "basic", ', ""), "a revision has no page"),
        (TABLE.replace('statement = "A rule"', ""), "missing required field `statement`"),
    ],
)
def test_invalid_table_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadRequirement, match=words):
        read(tmp_path, text)


def test_requirement_in_two_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequirement, match="XX-01 is defined twice"):
        read(tmp_path, TABLE, TABLE)


def test_clients_have_their_own_requirements_and_those_of_both_sides(tmp_path: Path) -> None:
    own = TABLE.replace("XX-01", "XX-03").replace('"server"', '"client"')
    assert read_of_clients(tmp_path, TABLE + SHARED, own).keys() == {"XX-02", "XX-03"}


@pytest.mark.parametrize(
    ("line", "reason"), [("", None), ('client_reason = "Not of clients."\n', "Not of clients.")]
)
def test_shared_requirement_has_its_client_reason(tmp_path: Path, line: str, reason: str | None) -> None:
    assert read_of_clients(tmp_path, SHARED + line, "")["XX-02"].reason == reason


def test_own_requirement_replaces_a_shared_one(tmp_path: Path) -> None:
    own = SHARED.replace('"wire"', '"process"').replace("Not of servers.", "Of clients.")
    requirement = read_of_clients(tmp_path, SHARED, own)["XX-02"]
    assert (requirement.seen, requirement.reason) == (Seen.PROCESS, "Of clients.")


def test_own_requirement_with_the_id_of_a_server_requirement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequirement, match=r"area0\.toml: XX-01 is a requirement for servers"):
        read_of_clients(tmp_path, TABLE, TABLE.replace('"server"', '"client"'))


def test_every_unobservable_requirement_has_a_reason() -> None:
    expect_none(
        f"{requirement.id} cannot be observed and has no reason"
        for requirement in protocol_suite().requirements.values()
        if requirement.seen.value in ("inside", "policy") and not requirement.reason
    )


def test_coverage_counts_every_explicit_requirement_once() -> None:
    suite = protocol_suite()
    for revision in REVISIONS:
        requirements = explicit_requirements(suite, revision)
        assert sum(tally(requirements, revision, suite).counts.values()) == len(requirements)
    assert cover(suite.requirements["BASE-06"], REVISIONS[0], suite) is Cover.COVERED
    assert cover(suite.requirements["BASE-13"], REVISIONS[0], suite) is Cover.EXCLUDED
