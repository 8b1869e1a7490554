"""Stored results, their comparison and their page."""

import re

import pytest
from msgspec.structs import replace

from assay.lab.error import InvalidOptions
from assay.lab.load.comparison import compare
from assay.lab.load.page.page import render_page
from assay.lab.load.page.plot import linear, logarithmic
from assay.lab.load.result import BadResult, LoadPace, dump_result, read_result
from assay.lab.load.slo import ObjectiveResult
from tests.lab.load.results import load_result, server


def test_stored_result_is_read_again() -> None:
    result = load_result(server=server(), errors={"timeout": 2})
    assert read_result(dump_result(result)) == result


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        dump_result(load_result(format="assay-load/9")),
        dump_result(load_result(histograms={"calls": {"x": 1}})),
        b" " * (16 * 2**20 + 1),
    ],
)
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(BadResult):
        read_result(data)


def test_comparison_names_what_became_worse() -> None:
    before = load_result()
    after = load_result((1.0, 2.0, 3.0, 90.0), rate=80.0, error_rate=0.1)
    worse = {change.metric for change in compare(after, before) if change.worse}
    assert worse == {"rate", "p90", "p99", "p999", "errors"}
    assert not any(change.worse for change in compare(before, before))
    assert not any(change.worse for change in compare(before, after))


def test_difference_below_the_clock_or_the_tolerance_is_no_worse() -> None:
    before = load_result((1.0, 1.0))
    assert not any(change.worse for change in compare(load_result((1.15, 1.15), rate=95.0), before))
    assert any(change.worse for change in compare(load_result((1.3, 1.3)), before))
    assert not any(change.worse for change in compare(load_result((1.3, 1.3)), before, 0.5))


@pytest.mark.parametrize(
    "other", [{"transport": "ws"}, {"pace": LoadPace(11)}, {"traffic": {}}, {"saturated": "busy"}]
)
def test_results_that_are_not_alike_are_not_compared(other: dict[str, object]) -> None:
    with pytest.raises(InvalidOptions):
        compare(load_result(), load_result(**other))


def test_page_loads_nothing_and_shows_what_was_measured() -> None:
    objectives = [ObjectiveResult("p95<1ms", 50.0, False)]
    page = render_page(load_result(server=server(), errors={"http 500": 3}, objectives=objectives))
    assert not re.search(r"(?:src|href|url)\s*[=(]", page)
    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in page
    assert page.count("<svg") == 5
    assert "http 500" in page and "not met: p95&lt;1ms" in page


def test_page_of_a_saturated_result_has_no_latencies() -> None:
    page = render_page(load_result(saturated="the generator was busy", rate=None, latency=None))
    assert "the generator was busy" in page
    assert "Distribution" not in page


def test_names_that_a_server_chose_are_escaped() -> None:
    page = render_page(load_result(target="<script>x</script>", traffic={"calls <b>": 1}))
    assert "<script>" not in page and "<b>" not in page.replace("<b>0.000", "").split("<h2>Traffic")[1]


def test_page_of_an_empty_result_is_written() -> None:
    result = replace(load_result(), operations=0, latency=None, timeline=[], histograms={})
    assert "<svg" in render_page(result)


@pytest.mark.parametrize("highest", [0.0, 0.003, 1.0, 7.0, 99.0, 12345.0])
def test_axes_cover_their_values_with_few_ticks(highest: float) -> None:
    axis = linear("", [highest])
    assert axis.highest >= highest and 2 <= len(axis.ticks) <= 7
    log = logarithmic("", [1.0, highest])
    assert log.highest >= highest
