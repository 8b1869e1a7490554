"""The hot path does not grow unnoticed: a call costs so many instructions of the interpreter, and no more."""

from __future__ import annotations

import pytest

from bench.request import HANDSHAKE_WIRE, PER_REQUEST_WIRE, Wire
from bench.steps import CLIENT_PARTS, CLIENT_WIRES, PARTS, count, count_client

# Ten per cent above what was counted with Python 3.11 when this was written; other versions differ a little.
BUDGETS = [(HANDSHAKE_WIRE, 1500), (PER_REQUEST_WIRE, 1770)]
CLIENT_BUDGETS = {"memory": 900, "stdio": 1340, "http": 2380}


@pytest.mark.parametrize(("wire", "budget"), BUDGETS, ids=[wire.name for wire, _ in BUDGETS])
async def test_a_call_stays_within_its_budget(wire: Wire, budget: int) -> None:
    counted = await count(wire)
    del counted[""]
    assert sum(counted.values()) <= budget, counted


async def test_every_part_is_seen() -> None:
    counted = await count(HANDSHAKE_WIRE)
    assert all(counted[title] for _, title in PARTS)


async def test_a_call_of_the_client_stays_within_its_budget() -> None:
    for wire in CLIENT_WIRES:
        counted = await count_client(wire)
        assert all(counted[title] for _, title in CLIENT_PARTS), wire
        assert sum(counted[title] for _, title in CLIENT_PARTS) <= CLIENT_BUDGETS[wire], (wire, counted)
