"""Whole load tests of a bundled server: discovery, traffic, measurement, result."""

import asyncio

import pytest

from assay.cli.main import main
from assay.lab.error import InvalidOptions, SubjectNotStarted
from assay.lab.load.options import LoadOptions
from assay.lab.load.run import follow_load, load
from assay.lab.target import Command

SHORT = LoadOptions(seconds=0.3, warm_up=0.0, floor=False, scenario="lists")


@pytest.mark.parametrize("transport", ["stdio", "http", "ws"])
async def test_load_is_measured_on_every_transport(transport: str) -> None:
    scenario = "agent" if transport == "http" else "lists"
    from msgspec.structs import replace

    options = replace(SHORT, transport=transport, users=2, scenario=scenario, slo="errors<1%,rss<1GB")
    result = await load("reference", options)
    # On a busy machine the generator may be the limit, and then says so instead of a conclusion.
    assert result.saturated or result.conclusion == "met", result.errors
    assert result.operations > 2
    assert result.server is not None and result.server.rss_max > 2**20
    assert result.latencies().count == result.operations
    assert result.generator.cpu_share > 0


async def test_result_so_far_is_there_after_an_interruption() -> None:
    live = follow_load("reference", LoadOptions(seconds=60, warm_up=0.0, floor=False, scenario="lists"))
    async with live:
        async for progress in live:
            assert progress.operations > 0
            live.interrupt()
    assert live.result.interrupted
    assert live.result.operations > 0
    assert live.result.latencies().count > 0
    assert 0 < live.result.seconds < 60


async def test_server_that_does_not_start_is_named() -> None:
    with pytest.raises(SubjectNotStarted):
        await load(Command(("/does/not/exist",)), SHORT)


@pytest.mark.parametrize(
    "options",
    [
        LoadOptions(scenario="nonsense"),
        LoadOptions(slo="p95=1"),
        LoadOptions(rate=5, think=1),
        LoadOptions(spec_version="1999-01-01"),
        LoadOptions(transport="pigeon"),
    ],
)
def test_wrong_options_are_refused_before_anything_starts(options: LoadOptions) -> None:
    with pytest.raises(InvalidOptions):
        follow_load("reference", options)


def test_unknown_tool_is_refused() -> None:
    from msgspec.structs import replace

    options = replace(SHORT, scenario="calls", tool=("no_such_tool",))
    with pytest.raises(InvalidOptions, match="no_such_tool"):
        asyncio.run(load("tests/lab/load/plain_server.py", options))


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--rate", "0"], 2),
        (["--tolerance", "x"], 2),
        (["--transport", "http", "--transport", "ws"], 2),
        (["--against", "/does/not/exist"], 2),
    ],
)
def test_wrong_usage_has_its_exit_code(words: list[str], code: int) -> None:
    assert main(["load", "reference", *words]) == code
