"""Input of a WebSocket connection: in pieces, at the pace of the client's share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay import Limits
from assay.protocol import time_share
from assay.protocol.time_share import TimeShares
from assay.transport.http1 import turn_queue
from assay.transport.http1.paced_input import PIECE, SMALL, PacedInput
from assay.transport.http1.turn_queue import TurnQueues


class Transport(asyncio.Transport):
    """Records whether it reads."""

    reads = True

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def is_closing(self) -> bool:
        return False


class Connection:
    """Each piece takes as many seconds of the clock as `cost` says."""

    def __init__(self, cost: float, **limits: Any) -> None:
        self.cost = cost
        self.time = 0.0
        self.pieces: list[bytes] = []
        self.is_cut_off = False
        self.handled = asyncio.Event()
        self.transport = Transport()
        self.shares = TimeShares(Limits(**limits), lambda: self.time)
        self.turns = TurnQueues(self.shares, asyncio.get_running_loop())
        self.input = self.new_input()

    def new_input(self) -> PacedInput:
        return PacedInput(self.transport, self.shares, self.turns, "a")

    def handle_input(self, data: bytes) -> None:
        self.pieces.append(data)
        self.time += self.cost
        self.handled.set()

    def wait_too_long(self) -> None:
        self.is_cut_off = True


async def test_small_input_is_handled_at_once() -> None:
    connection = Connection(cost=1000)
    connection.input.receive(b"x" * SMALL, connection)
    assert connection.pieces == [b"x" * SMALL]
    assert connection.transport.reads


async def test_large_input_is_handled_in_pieces() -> None:
    connection = Connection(cost=0)
    data = bytes(range(256)) * (PIECE // 100)
    connection.input.receive(data, connection)
    assert b"".join(connection.pieces) == data
    assert max(map(len, connection.pieces)) == PIECE


async def test_costly_input_waits_and_nothing_is_read_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_share, "BURST", 0.0)
    connection = Connection(cost=0.001)
    connection.input.receive(b"x" * (2 * PIECE), connection)
    assert (len(connection.pieces), connection.transport.reads) == (1, False)
    connection.time = 1.0
    connection.handled.clear()
    await connection.handled.wait()
    assert len(connection.pieces) == 2


async def test_application_that_reads_again_does_not_end_the_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time_share, "BURST", 0.0)
    connection = Connection(cost=10)
    connection.input.receive(b"x" * (2 * PIECE), connection)
    connection.input.pause()
    connection.input.resume()
    assert not connection.transport.reads


async def test_client_that_would_wait_too_long_is_cut_off() -> None:
    connection = Connection(cost=100, body_timeout=1)
    connection.input.receive(b"x" * (2 * PIECE), connection)
    assert (connection.is_cut_off, len(connection.pieces)) == (True, 1)


async def test_client_waits_on_few_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_share, "BURST", 0.0)
    monkeypatch.setattr(turn_queue, "MOST_WAITING", 2)
    connection = Connection(cost=1)
    connection.shares.charge("a", 1)
    inputs = [connection.new_input() for _ in range(3)]
    for each in inputs:
        assert not connection.is_cut_off
        each.receive(b"x" * PIECE, connection)
    assert connection.is_cut_off
    for each in inputs:
        each.drop()
    assert connection.turns.has_room("a")


async def test_first_input_of_a_connection_waits_if_others_have_used_the_share() -> None:
    connection = Connection(cost=1)
    connection.shares.charge("a", 1)
    connection.input.receive(b"x" * PIECE, connection)
    assert (connection.pieces, connection.transport.reads) == ([], False)


async def test_dropped_input_is_not_handled_and_reading_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_share, "BURST", 0.0)
    connection = Connection(cost=10)
    connection.input.receive(b"x" * (2 * PIECE), connection)
    connection.input.drop()
    assert (len(connection.pieces), connection.transport.reads) == (1, True)
    assert not asyncio.all_tasks() - {asyncio.current_task()}
