"""The page of a matrix: complete, alone, and safe whatever a subject says."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from assay.lab.matrix.definition import Matrix
from assay.lab.matrix.page.conversation import CITED, conversation
from assay.lab.matrix.page.fault import faults
from assay.lab.matrix.page.page import details, render
from assay.lab.matrix.page.square import heads, kind_of, legend, rows
from assay.lab.matrix.pair import Blame, BrokenRule, Pair, PairResult, Status, StepResult, StepStatus
from assay.lab.matrix.run import MatrixResult
from assay.lab.matrix.store import Store
from tests.lab.matrix.tiny import matrix
from tests.lab.traces import request, result, stdio_trace

REVISION = "2025-11-25"
EVIL = "</pre><script>alert(1)</script><img src=http://evil.example/x>\x1b[2J\u202e"
RULE = BrokenRule(Blame.SERVER, "TL-01", f"title {EVIL}", "rule", "https://example.org", EVIL, EVIL, [1])
FAILED = StepResult("tools", StepStatus.FAILED, EVIL, Blame.CLIENT, [0])
WORKED = StepResult("tools", StepStatus.OK)


class Tags(HTMLParser):
    """The names of all tags and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def pair(client: str = "plain", server: str = "sound") -> Pair:
    return Pair(client, server, "stdio", REVISION)


def result_of(small: Matrix, *results: PairResult) -> MatrixResult:
    return MatrixResult(small, {each.pair: each for each in results}, 1, 0, "2026-07-28T00:00:00Z")


def test_text_of_subjects_never_acts_and_nothing_is_loaded(tmp_path: Path) -> None:
    trace = stdio_trace((">", request(1, EVIL)), ("<", result(1, text=EVIL)))
    faulty = PairResult(pair(), Status.FAULTY, Blame.BOTH, EVIL, [FAILED], [RULE], output=EVIL)
    stored = Store(tmp_path).write(faulty, trace)
    page = render(result_of(matrix(), stored), tmp_path)
    assert "<script" not in page
    assert "<img" not in page
    assert "\x1b" not in page
    assert page.isascii()
    assert "&#8238;" not in page
    tags = Tags()
    tags.feed(page)
    assert tags.names.isdisjoint({"script", "img", "link", "base", "form", "iframe", "object"})
    assert tags.attributes.isdisjoint({"src", "srcset", "style", "action", "background", "onclick"})
    assert re.findall(r"@import|url\(", page.partition("</style>")[0]) == []
    assert "default-src &#39;none&#39;" in page


def test_every_pair_has_a_square_and_each_that_ran_a_section(tmp_path: Path) -> None:
    small = matrix(clients=("plain", "silent"), servers=("", "error"))
    ok = PairResult(pair(), Status.OK, steps=[WORKED])
    page = render(result_of(small, ok), tmp_path)
    assert page.count('class="square ok" href="#plain_sound_stdio_2025-11-25"') == 1
    assert page.count('<section class="pair"') == 1
    assert page.count('class="square unknown"') == 3 + 1  # and in the legend


def test_squares_tell_a_failed_step_from_a_broken_rule() -> None:
    worked = PairResult(pair(), Status.FAULTY, Blame.SERVER, "", [WORKED], [RULE])
    failed = PairResult(pair(), Status.FAULTY, Blame.CLIENT, "", [FAILED])
    unclear = PairResult(pair(), Status.FAULTY, Blame.UNCLEAR, "", [FAILED])
    assert [kind_of(each) for each in (worked, failed, unclear, None)] == [
        ("works", "S"),
        ("faulty", "C"),
        ("faulty", "?"),
        ("unknown", "\N{MIDDLE DOT}"),
    ]


def test_heads_count_what_a_party_is_to_blame_for() -> None:
    small = matrix(clients=("plain", "silent"))
    results = result_of(
        small,
        PairResult(pair(), Status.FAULTY, Blame.SERVER, "", [WORKED], [RULE]),
        PairResult(pair("silent"), Status.OK, steps=[WORKED]),
    ).results
    (server,) = heads(small, results)
    assert (server.ok, server.ran, server.blamed) == (1, 2, 1)
    assert [row.head.blamed for row in rows(small, results)] == [0, 0]
    assert [(entry.kind, entry.count) for entry in legend(small, results)] == [("ok", 1), ("works", 1)]


def test_the_same_fault_of_a_party_is_listed_once() -> None:
    small = matrix(clients=("plain", "silent"))
    results = result_of(
        small,
        *(
            PairResult(pair(name), Status.FAULTY, Blame.SERVER, "", [WORKED], [RULE])
            for name in small.clients
        ),
    ).results
    (fault,) = faults(small, results)
    assert (fault.name, fault.requirement, len(fault.pairs)) == ("sound", "TL-01", 2)


def test_large_conversations_are_cut_and_faulty_ones_come_first(tmp_path: Path) -> None:
    trace = stdio_trace((">", request(1, "x")), ("<", result(1, text="y" * 100_000)))
    store = Store(tmp_path)
    good = store.write(PairResult(pair(), Status.OK, steps=[WORKED]), trace)
    bad = store.write(PairResult(pair("silent"), Status.FAULTY, Blame.SERVER, "", [WORKED], [RULE]), trace)
    excerpt = conversation(bad, tmp_path, 10**6)
    assert len(excerpt.lines[1].raw) == CITED
    assert excerpt.lines[1].more > 90_000
    first, second = details({good.pair: good, bad.pair: bad}, tmp_path, budget=excerpt.size)
    assert first.conversation.missing.startswith("left out")
    assert second.conversation.lines


def test_a_trace_that_is_gone_is_named(tmp_path: Path) -> None:
    lost = PairResult(pair(), Status.OK, steps=[WORKED], trace="pairs/gone.ndjson")
    assert "cannot be read" in conversation(lost, tmp_path, 1000).missing


def test_stored_result_that_names_another_file_is_not_used(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name in ("../../etc/passwd", "/etc/passwd", "pairs/../x", "pairs/other.ndjson"):
        store.write(PairResult(pair(), Status.OK, trace=name), None)
        assert store.read(pair()) is None
    store.write(PairResult(pair(), Status.OK), None)
    assert store.read(pair()) == PairResult(pair(), Status.OK)
    (tmp_path / "pairs" / f"{pair().id}.json").write_bytes(b"[")
    assert store.read(pair()) is None
