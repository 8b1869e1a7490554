"""Objectives are read strictly, and judged on what was measured."""

import pytest

from assay.cli.exit_code import CONCLUSIONS, ExitCode
from assay.lab.error import InvalidOptions
from assay.lab.load.result import LoadResult
from assay.lab.load.slo import judge_objectives, parse_objectives
from tests.lab.load.results import load_result, server


@pytest.mark.parametrize(
    ("text", "metric", "sign", "limit"),
    [
        ("p95<250ms", "p95", "<", 250.0),
        (" p99.9 <= 1.5 s ", "p99.9", "<=", 1500.0),
        ("p50<800us", "p50", "<", 0.8),
        ("stream-p95<250ms", "stream-p95", "<", 250.0),
        ("errors<0.1%", "errors", "<", 0.001),
        ("errors<=0.5", "errors", "<=", 0.5),
        ("rate>=100/s", "rate", ">=", 100.0),
        ("rss<200MB", "rss", "<", 200 * 2**20),
        ("leak<1KB", "leak", "<", 1024.0),
        ("cpu<80%", "cpu", "<", 0.8),
        ("fds<100", "fds", "<", 100.0),
        ("max<1s", "max", "<", 1000.0),
    ],
)
def test_objective_is_read(text: str, metric: str, sign: str, limit: float) -> None:
    [objective] = parse_objectives(text)
    assert (objective.metric, objective.sign) == (metric, sign)
    assert objective.limit == pytest.approx(limit)


def test_objectives_are_separated_by_commas() -> None:
    assert [each.metric for each in parse_objectives("p95<250ms, errors<0.1%,")] == ["p95", "errors"]


@pytest.mark.parametrize(
    "text",
    ["p95", "p95=250ms", "p95<250MB", "p100.5<1", "speed<1", "errors<1ms", "p95<-1ms", "p95<ms", "rate>1%"],
)
def test_what_is_no_objective_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(InvalidOptions) as refusal:
        parse_objectives(text)
    assert refusal.value.fix


def test_number_of_objectives_is_bounded() -> None:
    with pytest.raises(InvalidOptions):
        parse_objectives(",".join(["p95<1ms"] * 21))


def judged(text: str, result: LoadResult) -> LoadResult:
    from msgspec.structs import replace

    return replace(result, objectives=judge_objectives(parse_objectives(text), result))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", ExitCode.OK),
        ("p50<10ms,max<60ms,errors<1%,rate>50", ExitCode.OK),
        ("p99<10ms", ExitCode.DOES_NOT_CONFORM),
        ("p50<10ms,p99<10ms", ExitCode.DOES_NOT_CONFORM),
        ("rate>=101/s", ExitCode.DOES_NOT_CONFORM),
        ("rss<100MB", ExitCode.INCOMPLETE),  # the server is not on this machine
        ("stream-p95<1s", ExitCode.INCOMPLETE),  # nothing was streamed
    ],
)
def test_objectives_decide_the_exit_code(text: str, code: ExitCode) -> None:
    assert CONCLUSIONS[judged(text, load_result()).conclusion] is code


@pytest.mark.parametrize(
    ("text", "met"), [("rss<31MB", True), ("rss<30MB", False), ("leak<10B", False), ("fds<=20,cpu<50%", True)]
)
def test_use_of_the_server_is_judged_where_it_is_known(text: str, met: bool) -> None:
    assert (judged(text, load_result(server=server())).conclusion == "met") is met


def test_saturated_result_meets_nothing() -> None:
    result = load_result(saturated="the generator was busy", rate=None, latency=None)
    assert judged("p50<10s", result).objectives[0].value is None
    assert judged("", result).conclusion == "incomplete"


def test_interrupted_result_is_neither_met_nor_not() -> None:
    assert CONCLUSIONS[load_result(interrupted=True).conclusion] is ExitCode.INTERRUPTED
