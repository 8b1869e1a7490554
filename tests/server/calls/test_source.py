"""`ctx.clock` and `ctx.random`: from the system by default, the same for each request id if seeded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random, SystemRandom

import pytest

from assay import Client, Context, SeededSources, Server, SystemSources, sources_from

START = datetime(2026, 1, 1, tzinfo=UTC)


def make_server(sources: SeededSources | None = None) -> Server:
    server = Server("dice", sources=sources) if sources else Server("dice")

    @server.tool
    async def roll(ctx: Context) -> list[str]:
        numbers = [str(ctx.random.randrange(10**9)) for _ in range(2)]
        return [ctx.clock.now().isoformat(), ctx.clock.now().isoformat(), *numbers]

    return server


async def rolls(server: Server, count: int = 2) -> list[list[str]]:
    async with Client(server) as client:
        return [(await client.call_tool("roll")).structured for _ in range(count)]


async def test_seeded_calls_repeat_and_differ_by_request() -> None:
    first, second = [await rolls(make_server(SeededSources(START, "a"))) for _ in range(2)]
    assert first == second
    assert first[0][2:] != first[1][2:]
    assert first[0][2] != first[0][3]
    other = await rolls(make_server(SeededSources(START, "b")))
    assert other[0][:2] == first[0][:2]
    assert other[0][2:] != first[0][2:]


async def test_a_seeded_clock_advances_whenever_it_is_read() -> None:
    ((first, second, *_),) = await rolls(make_server(SeededSources(START, "a")), 1)
    assert datetime.fromisoformat(first) == START
    assert datetime.fromisoformat(second) - START == timedelta(milliseconds=1)


async def test_without_seeds_time_and_numbers_come_from_the_system() -> None:
    before = datetime.now(UTC)
    ((first, _, *numbers),) = await rolls(make_server(), 1)
    assert before <= datetime.fromisoformat(first) <= datetime.now(UTC)
    assert numbers[0] != numbers[1]
    assert isinstance(SystemSources().random(1), SystemRandom)


def test_a_missing_seed_leaves_that_part_to_the_system() -> None:
    assert isinstance(SeededSources(START).random(1), SystemRandom)
    assert abs(SeededSources(seed="a").clock(1).time() - datetime.now(UTC).timestamp()) < 3600
    assert SeededSources(seed="a").random(1).random() == SeededSources(seed="a").random(1).random()
    assert type(SeededSources(seed="a").random(1)) is Random


def test_an_int_and_a_string_are_different_request_ids() -> None:
    sources = SeededSources(seed="a")
    assert sources.random(1).random() != sources.random("1").random()


def test_seeds_are_read_from_the_environment() -> None:
    sources = sources_from({"ASSAY_CLOCK": "2026-01-01T01:00:00+01:00", "ASSAY_RANDOM_SEED": "a"})
    assert sources.clock(1).now() == START
    assert sources.random(1).random() == SeededSources(seed="a").random(1).random()
    assert isinstance(sources_from({"ASSAY_CLOCK": ""}), SystemSources)


@pytest.mark.parametrize(
    "environment",
    [
        {"ASSAY_CLOCK": "yesterday"},
        {"ASSAY_CLOCK": "2026-01-01T00:00:00"},
        {"ASSAY_RANDOM_SEED": "x" * 1025},
    ],
)
def test_invalid_seeds_are_refused(environment: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="ASSAY_CLOCK and ASSAY_RANDOM_SEED: "):
        sources_from(environment)
