"""Users and rates: a stall of the server is seen by all that it delays."""

import asyncio

import pytest

from assay.lab.load.error_kind import UNSENT
from assay.lab.load.generator import MOST_QUEUED, Generator, Pace
from assay.lab.load.measurement import TIME_STAMP, messages_of
from assay.lab.load.operation import Operation
from assay.lab.load.schedule import SECOND, OpenSchedule
from assay.lab.load.tally import MOST_WINDOWS, Tally
from assay.lab.load.wire import Receiver
from tests.lab.load.scripted import CALL, answer, measured, scripted

MS = 10**6


class Manual:
    """A wire whose operations a test completes at times of its choice."""

    capacity = 1
    lost_session = False
    process_id = None

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self.sent: list[int] = []
        self._current: tuple[Operation, int] | None = None

    @property
    def in_flight(self) -> int:
        return self._current is not None

    @property
    def is_usable(self) -> bool:
        return self._current is None

    async def open(self) -> None: ...

    async def reconnect(self) -> None: ...

    def refresh(self) -> None: ...

    def send(self, operation: Operation, intended: int) -> None:
        self.sent.append(intended)
        self._current = (operation, intended)

    def complete(self, at: int, error: str | None = None) -> None:
        assert self._current is not None
        (operation, intended), self._current = self._current, None
        self._receiver.completed(self, operation, intended, at, error)

    def expire(self, before: int) -> None: ...

    def abort(self) -> None: ...

    async def close(self) -> None: ...


async def opened(rate: float, seconds: int) -> tuple[Generator, Manual, OpenSchedule]:
    tally = Tally(0, seconds * SECOND)
    generator = Generator(Pace(users=1, rate=rate), [CALL], Manual, tally)
    [wire] = generator.wires
    assert isinstance(wire, Manual)
    generator._idle.append(wire)
    return generator, wire, OpenSchedule(rate, 0, seconds * SECOND)


async def test_stall_is_seen_by_every_operation_that_it_delays() -> None:
    """With 100/s and a stall of 500 ms, a generator that waits for answers would see one slow operation."""
    generator, wire, schedule = await opened(100, 1)
    for at in range(0, SECOND + 1, MS):
        generator.tick(schedule, at)
        while wire.in_flight and not 200 * MS <= at < 700 * MS:
            wire.complete(at)
    latencies = generator.tally.latencies()
    assert latencies.count == 100
    assert latencies.percentile(100) >= 490 * MS
    # Half of the operations were due during the stall, and waited for its end.
    assert latencies.above(100 * MS) >= 38
    assert latencies.above(9 * MS) >= 49


async def test_server_that_stalls_is_reported_as_such() -> None:
    """50 ms in every 200 ms: at a fixed rate, an operation in ten waits for 25 ms at least."""
    loop = asyncio.get_running_loop()
    begin = loop.time()

    def stalling(transport: asyncio.Transport, request_id: int) -> None:
        position = (loop.time() - begin) % 0.2
        if position < 0.05:
            loop.call_later(0.05 - position, answer, transport, request_id)
        else:
            answer(transport, request_id)

    async with scripted(stalling) as endpoint:
        tally = await measured(endpoint, rate=500, users=40, seconds=0.6)
    latencies = tally.latencies()
    assert not tally.errors
    assert latencies.count == tally.operations > 200
    assert latencies.percentile(90) >= 20 * MS
    assert latencies.percentile(98) >= 40 * MS


async def test_users_wait_for_answers_and_rates_do_not() -> None:
    pending: list[tuple[asyncio.Transport, int]] = []
    async with scripted(lambda transport, request_id: pending.append((transport, request_id))) as endpoint:
        users = await measured(endpoint, users=2, seconds=0.1, timeout=0.2)
        assert len(pending) == 2
        at_rate = await measured(endpoint, users=2, seconds=0.1, timeout=0.2, rate=200)
    assert users.operations == 2
    assert at_rate.operations in (20, 21)
    assert at_rate.errors[UNSENT] + at_rate.errors["timeout"] == at_rate.operations


async def test_answers_of_all_users_count() -> None:
    async with scripted(answer) as endpoint:
        tally = await measured(endpoint, users=5)
    assert tally.operations >= tally.answered > 5
    assert tally.latencies().count == tally.operations


async def test_queue_of_a_rate_is_bounded() -> None:
    generator, _, schedule = await opened(1e6, 1)
    for _ in range(12):
        generator.tick(schedule, SECOND)
    assert generator.in_flight <= MOST_QUEUED + 1
    assert generator.tally.errors[UNSENT] > 0


def test_tally_does_not_grow_with_the_operations() -> None:
    tally = Tally(0, 10_000 * SECOND)
    for number in range(20_000):
        at = number * SECOND // 2
        tally.record(CALL, at, at + number % 5, None if number % 2 else f"rpc {number}")
    assert len(tally.windows) <= MOST_WINDOWS
    assert len(tally.errors) <= 41
    assert tally.failed == 10_000


@pytest.mark.parametrize(("intended", "counted"), [(-1, False), (0, True), (99, True), (100, False)])
def test_only_the_measured_time_counts(intended: int, counted: bool) -> None:
    tally = Tally(0, 100)
    tally.record(CALL, intended, 150, None)
    assert (tally.operations == 1) is counted


def message(stamp: int | None) -> bytes:
    text = b"" if stamp is None else b'"message":"monotonic_ns=%d",' % stamp
    return b'{"jsonrpc":"2.0","method":"notifications/progress","params":{%b"progress":1}}' % text


@pytest.mark.parametrize(("stamps", "trusted"), [
    ((SECOND, SECOND), True),
    ((SECOND, None), False),
    ((SECOND, 9 * SECOND), False),
    ((None, None), False),
])  # fmt: skip
def test_stamps_count_only_if_every_message_has_one_that_can_be_true(
    stamps: tuple[int | None, ...], trusted: bool
) -> None:
    """Late messages without a stamp, or with one in the future, would be left out."""
    tally = Tally(0, 10 * SECOND)
    for number, stamp in enumerate(stamps):
        tally.record_message(SECOND // 2, number * SECOND, (2 + number) * SECOND, message(stamp))
    messages, histogram = messages_of(tally)
    assert tally.is_stamped is trusted
    assert messages is not None and (messages.method == TIME_STAMP) is trusted
    assert histogram.count == (2 if trusted else 1)
