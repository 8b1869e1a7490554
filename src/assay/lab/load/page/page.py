"""The page of a load test: figures, plots over time, the distribution of latencies. It loads nothing else."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Template
from markupsafe import Markup
from msgspec import Struct

from assay.lab.load.comparison import Change
from assay.lab.report.html.block import as_source, template

from .plot import Axis, Line, linear, logarithmic, plot

if TYPE_CHECKING:
    from assay.lab.load.result import LoadResult

HOME: Final = Path(__file__).parent
SHARES: Final = (0.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999)
MEBIBYTE: Final = 2**20


class Figure(Struct, frozen=True):
    title: str
    svg: Markup
    legend: list[tuple[str, str]]


def render_page(result: LoadResult, changes: list[Change] | None = None) -> str:
    styles = (HOME / "page.css").read_text("ascii")
    page = _template().render(
        result=result,
        changes=changes or [],
        policy=f"default-src 'none'; style-src {as_source(styles)}; base-uri 'none'; form-action 'none'",
        styles=Markup(styles),
        figures=figures(result),
        ms=milliseconds,
        mb=lambda count: f"{count / MEBIBYTE:.1f} MB",
    )
    return page.encode("ascii", "xmlcharrefreplace").decode()


@cache
def _template() -> Template:
    return template(HOME / "page.html")


def milliseconds(value: float) -> str:
    if value < 1:
        return f"{value * 1000:.3g} µs"
    return f"{value:.4g} ms" if value < 1000 else f"{value / 1000:.3g} s"


def figures(result: LoadResult) -> list[Figure]:
    shown: list[Figure] = []
    if not result.saturated:
        shown += _latency(result)
    shown += _rate(result)
    return shown + _server(result)


def _figure(title: str, across: Axis, up: Axis, lines: list[Line]) -> Figure:
    legend = [(line.style, line.name) for line in lines if line.points]
    return Figure(title, Markup(plot(title, across, up, lines)), legend)


def _latency(result: LoadResult) -> list[Figure]:
    histogram = result.latencies()
    if not histogram.count:
        return []
    # Beyond one value in so many, a percentile would only repeat the maximum.
    shares = [share for share in SHARES if share <= 100 * (1 - 1 / histogram.count)] or [0.0]
    values = [value / 1e6 for value in histogram.percentiles(shares)]
    points = [(1 / (1 - share / 100), value) for share, value in zip(shares, values, strict=True)]
    across = logarithmic("percentile", [point[0] for point in points], _as_percentile)
    distribution = _figure(
        "Distribution of latencies",
        across,
        linear("latency", values, milliseconds),
        [Line("latency", "a", points)],
    )
    timeline = [point for point in result.timeline if point.p50 is not None and point.p99 is not None]
    over_time = [
        Line("p99", "b", [(point.t, point.p99 or 0.0) for point in timeline]),
        Line("p50", "a", [(point.t, point.p50 or 0.0) for point in timeline]),
    ]
    highest = linear("latency", [point.p99 or 0.0 for point in timeline], milliseconds)
    return [distribution, _figure("Latency over time", _time(result), highest, over_time)]


def _as_percentile(value: float) -> str:
    return f"{100 * (1 - 1 / value):.6g} %"


def _time(result: LoadResult) -> Axis:
    return linear("seconds", [result.seconds])


def _rate(result: LoadResult) -> list[Figure]:
    lines = [
        Line("answers", "a", [(point.t, point.rate) for point in result.timeline]),
        Line("errors", "b", [(point.t, point.errors) for point in result.timeline if result.errors]),
    ]
    rates = [max(point.rate, point.errors) for point in result.timeline]
    title = "Answers and errors in a second" if result.errors else "Answers in a second"
    return [_figure(title, _time(result), linear("rate", rates), lines)]


def _server(result: LoadResult) -> list[Figure]:
    if result.server is None or len(result.server.samples) < 2:
        return []
    samples: list[Any] = result.server.samples
    across = linear("seconds", [sample.t for sample in samples])
    memory = [(sample.t, sample.rss / MEBIBYTE) for sample in samples]
    cpu = [(sample.t, sample.cpu * 100) for sample in samples[1:]]  # each is the use since the one before
    up = linear("memory", [place[1] for place in memory], lambda value: f"{value:g} MB")
    share = linear("CPU", [place[1] for place in cpu], lambda value: f"{value:g} %")
    return [
        _figure("Memory of the server", across, up, [Line("resident", "c", memory)]),
        _figure("CPU of the server, in percent of a core", across, share, [Line("CPU", "a", cpu)]),
    ]
