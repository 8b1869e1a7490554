"""What the benchmark makes of its figures: ratios, verdicts, tables, and what voids a figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.client_load import HTTPX2, MANY
from bench.http_load import FAULTS, VoidFigure, read_figures
from bench.plot import draw
from bench.report import PAGES, PARTS, fill
from bench.request import HANDSHAKE_WIRE, PER_REQUEST_WIRE, WrongAnswer, expect_answer, expect_sum
from bench.result import STORED, ClientSample, Result, Sample, Spawns, load, store, with_clients
from bench.subject import ASSAY, ASSAY_DEF, BARE, FASTMCP, HERE, MINIMCP, MINIMCP_DEF, OFFICIAL
from bench.table import whole_text
from bench.target import TARGETS, judge
from tests.meta.test_pins import lock_breaches, pin_breaches
from tests.meta.tree import expect_none


def samples(*rates: float, rss: float = 30.0, client: float = 0.2) -> list[Sample]:
    return [Sample(number, rate, 50, 90, 1.0, client, rss) for number, rate in enumerate(rates)]


def client_samples() -> dict[str, list[ClientSample]]:
    rates = {ASSAY: 6_000, OFFICIAL: 600, FASTMCP: 500, HTTPX2: 2_000}
    return {
        name: [ClientSample(round=0, rate=rate, p50_us=90, p99_us=150, cpu_us=80)]
        for name, rate in rates.items()
    }


def sample_result(**changes: Any) -> Result:
    http = {BARE: [20_000], ASSAY: [14_000], ASSAY_DEF: [8_000], MINIMCP: [3_000], OFFICIAL: [900]}
    stdio = {BARE: [30_000], ASSAY: [9_000], ASSAY_DEF: [4_000], MINIMCP: [1_000], MINIMCP_DEF: [1_000]}
    fields: dict[str, Any] = {
        "mode": "full",
        "started": "now",
        "machine": {
            **{"cpu": "abacus", "cores": 2, "memory_gb": 1, "kernel": "6", "system": "Debian"},
            **{"load_before": 0, "other_work": 0.1},
        },
        "versions": {"python": "Python 3.11"},
        "settings": {"rounds": 1},
        "http": {name: samples(*rates) for name, rates in {**http, MINIMCP_DEF: [3_000]}.items()},
        "stdio": {name: samples(*rates) for name, rates in stdio.items()},
        "spawn": {ASSAY: [Spawns(0, [100, 120, 110])], MINIMCP: [Spawns(0, [600])]},
        "http_per_request": {ASSAY: samples(12_600), OFFICIAL: samples(900)},
        "wires": {"http 1": samples(5_000), "ws 1": samples(6_000), "http 32": samples(9_000)}
        | {"ws 32": samples(9_900)},
        "profile": {"plain": samples(10_000), "all": samples(4_000)},
        "state_us": [9.0, 12.0, 10.0],
        "token_us": {"known": [9.0, 8.0], "new": [200.0]},
        "clients": {kind: client_samples() for kind in ("http", f"http {MANY}", "stdio", "memory")},
        "import_ms": {"bare": [50.0, 52.0], "client": [90.0, 60.0]},
        "listing_ms": [120.0, 90.0, 400.0],
        "tools_us": {"1": [20.0, 19.0], "100": [19.5], "10000": [25.0, 20.0]},
    }
    return Result(**{**fields, **changes})


def test_a_good_result_passes_every_target() -> None:
    verdicts = judge(sample_result())
    assert [v.target.measure for v in verdicts if not v.passed] == []
    assert len(verdicts) == len(TARGETS) == 25


def test_a_miss_says_by_how_much() -> None:
    result = sample_result()
    result.http[ASSAY] = samples(6_000)
    words = {v.target.measure: v.word for v in judge(result)}
    assert words["HTTP calls, async def / bare ASGI app"] == "MISS by 50 %"
    assert words["HTTP calls, async def / minimcp"] == "MISS by 33 %"
    assert words["HTTP calls, async def / official SDK"] == "MISS by 17 %"


@pytest.mark.parametrize("name", [ASSAY, ASSAY_DEF])
def test_the_dearer_of_both_kinds_of_tool_counts_for_memory(name: str) -> None:
    result = sample_result()
    result.http[name] = samples(9_000, rss=46.0)
    assert not {v.target.measure: v for v in judge(result)}["RSS serving HTTP"].passed


def test_a_target_without_a_figure_is_not_met() -> None:
    void = {
        "http": {},
        "http_per_request": {},
        "stdio": {},
        "wires": {},
        "profile": {},
        "spawn": {},
        "tools_us": {},
        "token_us": {},
        "clients": {},
        "import_ms": {},
    }
    result = sample_result(**void, state_us=[], listing_ms=[])
    assert {v.word for v in judge(result)} == {"void: no figure"}
    assert not any(v.passed for v in judge(result))


def test_ratios_compare_neighbours_in_time() -> None:
    # The machine was twice as slow in the second round; the third has no counterpart.
    result = sample_result(http={ASSAY: samples(3_000, 1_500, 9_000), MINIMCP: samples(1_000, 500)})
    assert result.rate_ratio("http", ASSAY, MINIMCP) == 3.0


def test_the_wire_without_a_handshake_is_measured_against_our_own_and_the_official_one() -> None:
    result = sample_result()
    assert (result.wire_ratio(ASSAY), result.state_cost()) == (0.9, 10.0)
    result.http_per_request[ASSAY] = samples(7_000 * 0.85)
    result.state_us = [75.0]
    words = {v.target.measure: v.word for v in judge(result)}
    assert words["HTTP calls, 2026-07-28 / handshake"] == "MISS by 50 %"
    assert words["HTTP calls, 2026-07-28 / official SDK"] == "pass, 10 % to spare"
    assert words["signing and opening 1 KB of request state"] == "MISS by 50 %"


def test_websocket_is_measured_beside_http_with_as_many_connections() -> None:
    result = sample_result()
    assert (result.websocket_ratio(1), result.websocket_ratio(32)) == (1.2, 1.1)
    result.wires["ws 32"] = samples(4_500)
    words = {v.target.measure: v.word for v in judge(result)}
    assert words["WebSocket calls / HTTP calls, 32 connections"] == "MISS by 50 %"
    assert "WebSocket, one connection" in whole_text(result)


def test_an_answer_of_another_wire_is_a_wrong_one() -> None:
    old = json.dumps({"jsonrpc": "2.0", "id": 1, "result": GOOD}).encode()
    new = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {**GOOD, "resultType": "complete"}}).encode()
    expect_answer(old, HANDSHAKE_WIRE)
    expect_answer(new, PER_REQUEST_WIRE)
    for answer, wire in ((new, HANDSHAKE_WIRE), (old, PER_REQUEST_WIRE)):
        with pytest.raises(WrongAnswer, match="wrong result type"):
            expect_answer(answer, wire)


def test_the_spread_over_tools_takes_the_cheapest_batches() -> None:
    assert sample_result().tools_spread() == pytest.approx(20 / 19 - 1)
    assert sample_result(tools_us={"1": [1.0]}).tools_spread() is None


def test_a_client_that_has_no_time_left_shows() -> None:
    result = sample_result()
    assert "client-bound" not in whole_text(result)
    result.http[ASSAY] = samples(9_000, client=0.95)
    assert "client-bound" in whole_text(result)


FIGURES = {"requests": 9, "duration_us": 1, "p50_us": 1, "p99_us": 1, **dict.fromkeys(FAULTS, 0)}


def wrk_output(**changes: int) -> str:
    return f"Running 1s test\nRequests/sec: 9\n{json.dumps({**FIGURES, **changes})}\n"


def test_the_last_line_of_wrk_holds_the_figures() -> None:
    assert read_figures(wrk_output()) == FIGURES


@pytest.mark.parametrize("fault", FAULTS)
def test_a_single_fault_voids_the_figure(fault: str) -> None:
    with pytest.raises(VoidFigure, match=f"^1 {FAULTS[fault]}"):
        read_figures(wrk_output(**{fault: 1}))


def test_a_run_without_requests_is_void() -> None:
    with pytest.raises(VoidFigure):
        read_figures(wrk_output(requests=0))


GOOD = {"content": [{"type": "text", "text": "3"}], "structuredContent": {"result": 3}}


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 2, "result": GOOD},
        {"jsonrpc": "2.0", "id": 1, "result": {**GOOD, "isError": True}},
        {"jsonrpc": "2.0", "id": 1, "result": {**GOOD, "structuredContent": {"result": 4}}},
        {"jsonrpc": "2.0", "id": 1, "result": {"content": []}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "3"}},
        ["3"],
    ],
)
def test_a_wrong_answer_is_told_from_a_right_one(message: Any) -> None:
    expect_sum(json.dumps({"jsonrpc": "2.0", "id": 1, "result": GOOD}).encode(), 1)
    with pytest.raises(WrongAnswer):
        expect_sum(json.dumps(message).encode(), 1)


def test_bytes_that_are_not_json_are_a_wrong_answer() -> None:
    with pytest.raises(WrongAnswer):
        expect_sum(b"\xff", 1)


def test_a_stored_result_reads_back_and_says_the_same(tmp_path: Path) -> None:
    result = sample_result()
    store(result, tmp_path / "new" / "result.json")
    assert whole_text(load(tmp_path / "new" / "result.json")) == whole_text(result)


def test_a_page_gets_the_parts_that_it_asks_for() -> None:
    page = "# Speed\n<!-- begin bench:targets -->\nold\n<!-- end bench:targets -->\nafter\n"
    filled = fill(page, sample_result())
    assert filled.startswith("# Speed\n<!-- begin bench:targets -->\n| measure | needed |")
    assert "old" not in filled and filled.endswith("<!-- end bench:targets -->\nafter\n")
    assert fill(filled, sample_result()) == filled


def test_the_documentation_asks_for_parts_that_exist() -> None:
    blocks = [f"<!-- begin bench:{name} -->\n<!-- end bench:{name} -->\n" for name in PARTS]
    assert "None" not in fill("".join(blocks), sample_result())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_page_shows_the_stored_run(path: Path) -> None:
    page = path.read_text("utf-8")
    assert fill(page, load(STORED)) == page
    assert fill(page, sample_result()) != page


def test_the_picture_is_well_formed_and_has_a_bar_for_each_figure() -> None:
    picture = ElementTree.fromstring(draw(sample_result()))
    bars = [shape for shape in picture if shape.tag.endswith("rect") and "rx" in shape.attrib]
    assert len(bars) == 6 + 5


def test_subjects_are_pinned_without_addresses() -> None:
    pages = sorted((HERE / "requirements").glob("*.txt"))
    assert len(pages) == 4
    expect_none(f"{page.name}:{breach}" for page in pages for breach in pin_breaches(page.read_text("utf-8")))
    expect_none(lock_breaches((HERE / "peers" / "typescript" / "package-lock.json").read_text("utf-8")))


def test_a_run_of_clients_replaces_those_of_the_stored_result() -> None:
    stored = sample_result(import_ms={"bare": [50.0], "client": [100.0]})
    run = sample_result(started="later", http={})
    updated = with_clients(stored, run)
    assert (updated.import_ratio(), updated.http, updated.started) == (1.2, stored.http, "now")
    assert "clients: full run of later" in whole_text(updated)


def test_an_import_is_compared_by_its_best_time() -> None:
    assert sample_result().import_ratio() == 1.2
    assert sample_result(import_ms={}).import_ratio() is None
