"""The table of servers that our client uses, and what becomes of its reports."""

from __future__ import annotations

import re
from pathlib import Path

from interop.features import CLOSE, Cell, Column, Mark, markdown_table
from interop.servers import public
from interop.servers.__main__ import CLIENT, FEATURES, MARKS
from interop.servers.merge import lacks, merged
from interop.servers.table import Lack, read_table
from tests.meta.test_pins import pin_breaches
from tests.meta.tree import ROOT, expect_none

PAGE = ROOT / "docs" / "evidence" / "interop.md"
STEP = re.compile(r'^            "([^"]+)": self\.', re.MULTILINE)


def column(server: str, revision: str, transport: str, mark: Mark, detail: str = "") -> Column:
    return Column(server, revision, transport, {"tools": Cell(mark, detail)})


def test_the_table_names_features_and_servers_that_exist() -> None:
    expect_none(read_table().problems(FEATURES))


def test_every_server_is_pinned() -> None:
    for server in read_table().server:
        assert server.version()[0].isdigit()
    expect_none(pin_breaches((ROOT / "interop/peers/python-sdk-1/requirements.txt").read_text("utf-8")))


def test_the_programs_have_a_step_for_every_feature() -> None:
    for program, features in ((CLIENT, FEATURES), (public.CLIENT, public.FEATURES)):
        assert [*STEP.findall(Path(program).read_text("utf-8")), CLOSE] == [*features]


def test_a_lack_applies_where_it_says() -> None:
    lack = Lack(["polling"], "why", servers=["a"], transports=["stdio"])
    assert lack.applies("a", "stdio", "2025-11-25")
    assert not lack.applies("b", "stdio", "2025-11-25")
    assert not lack.applies("a", "http", "2025-11-25")
    assert Lack(["polling"], "why").applies("b", "http", "2024-11-05")


def test_revisions_share_a_column_and_one_failure_shows() -> None:
    works = column("SDK 1", "2025-06-18", "http", Mark.WORKS)
    fails = column("SDK 1", "2025-11-25", "http", Mark.FAILS, "late")
    absent = column("SDK 1", "2024-11-05", "http", Mark.NO_API, "none")
    other = column("SDK 1", "2025-11-25", "stdio", Mark.WORKS)
    both, single = merged([absent, works, fails, other])
    assert (both.revision, both.cells["tools"]) == (
        "2024-11-05 to 2025-11-25",
        Cell(Mark.FAILS, "2025-11-25: late"),
    )
    assert (single.revision, single.transport) == ("2025-11-25", "stdio")
    assert merged([absent, works])[0].cells["tools"].mark is Mark.WORKS
    assert "| tools | ✗ | ✓ |" in markdown_table([both, single])


def test_the_page_says_what_servers_lack() -> None:
    page = PAGE.read_text("utf-8")
    assert lacks(read_table()) in page
    for begin, end in (MARKS, public.MARKS):
        assert begin in page and end in page
    assert "✗" not in page.partition(MARKS[0])[2].partition(MARKS[1])[0]


def test_public_servers_are_those_that_make_installs() -> None:
    names = {job.server.name for job in public.public_jobs()}
    (listed,) = re.findall(r"PUBLIC_VENVS\)/%/\.ready,([a-z ]+)\)", (ROOT / "Makefile").read_text("utf-8"))
    assert names == {*listed.split()} and len(names) >= 4


def test_the_directory_of_a_server_is_filled_in_everywhere() -> None:
    value = {"paths": ["{data}/a"], "size": 3}
    assert public.filled(value, "/x") == {"paths": ["/x/a"], "size": 3}
