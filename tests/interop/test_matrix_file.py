"""The matrix of clients and servers that `make matrix` runs."""

from __future__ import annotations

import re

import pytest

from assay.lab.matrix.definition import Party, read_matrix
from assay.lab.matrix.pair import Blame, Pair, PairResult, Status
from assay.lab.matrix.run import MatrixResult
from interop.matrix_run import FILE, MARKS, PAGE, block, is_ours
from interop.peer import PROGRAMS as PEERS
from interop.peer import pinned_version
from tests.meta.test_pins import pin_breaches
from tests.meta.tree import ROOT, expect_none

MATRIX = read_matrix(FILE)
PACKAGES = {
    "python-sdk": "mcp",
    "python-sdk-1": "mcp",
    "fastmcp": "fastmcp",
    "fastmcp-3": "fastmcp",
    "chuk-mcp": "chuk-mcp",
    "minimcp": "minimcp",
    "typescript-sdk-1": "@modelcontextprotocol/sdk",
    "typescript-sdk-2": "@modelcontextprotocol/client",
}
PARTIES = [*MATRIX.clients.items(), *MATRIX.servers.items()]


def test_there_are_eight_clients_and_nine_servers() -> None:
    assert (len(MATRIX.clients), len(MATRIX.servers)) == (8, 9)


@pytest.mark.parametrize(("name", "party"), PARTIES)
def test_titles_have_the_pinned_versions(name: str, party: Party) -> None:
    if name in PACKAGES:
        assert party.title.endswith(f" {pinned_version(PEERS / name, PACKAGES[name])}")


@pytest.mark.parametrize(("name", "party"), PARTIES)
def test_programs_exist(name: str, party: Party) -> None:
    for word in (*party.stdio, *party.http):
        path = MATRIX.filled(word)
        if re.search(r"/interop/.*\.(py|mjs)$", path):
            assert (ROOT / path).is_file(), path


def test_new_peers_are_pinned() -> None:
    for name in ("fastmcp-3", "chuk-mcp"):
        expect_none(pin_breaches((PEERS / name / "requirements.txt").read_text("utf-8")))


def test_page_has_the_marks_of_the_table() -> None:
    page = PAGE.read_text("utf-8")
    assert all(page.count(mark) == 1 for mark in MARKS)


def test_table_has_a_row_for_each_client() -> None:
    faulty = PairResult(Pair("assay", "minimcp", "stdio", "2025-11-25"), Status.FAULTY, Blame.SERVER)
    text = block(MatrixResult(MATRIX, {faulty.pair: faulty}, 1, 0, ""))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(MATRIX.clients)
    assert "· S ·<br>· · ·" in rows[1]


@pytest.mark.parametrize(
    ("client", "server", "status", "blame", "ours"),
    [
        ("assay", "minimcp", Status.FAULTY, Blame.SERVER, False),
        ("assay", "minimcp", Status.FAULTY, Blame.CLIENT, True),
        ("assay", "minimcp", Status.FAULTY, Blame.UNCLEAR, True),
        ("fastmcp", "assay", Status.FAULTY, Blame.BOTH, True),
        ("fastmcp", "minimcp", Status.FAULTY, Blame.BOTH, False),
        ("fastmcp", "assay", Status.NOT_RUN, Blame.CLIENT, True),
        ("fastmcp", "minimcp", Status.NOT_RUN, Blame.CLIENT, False),
        ("assay", "minimcp", Status.UNSUPPORTED, Blame.SERVER, False),
    ],
)
def test_only_our_faults_fail_the_run(
    client: str, server: str, status: Status, blame: Blame, ours: bool
) -> None:
    assert is_ours(PairResult(Pair(client, server, "stdio", "2025-11-25"), status, blame)) is ours
