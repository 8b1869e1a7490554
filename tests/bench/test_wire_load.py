"""The generator of load for both wires: it counts right answers, and a single fault voids what it counted."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import Any

import pytest

from assay import Server
from bench import wire_load
from bench.http_load import VoidFigure
from bench.peers import assay_async
from bench.wire_load import FAULTS, read_figures, run_load
from tests.driving.hosts import on_assay

FIGURES = {"calls": 9, "seconds": 1.0, "p50_us": 1.0, "p99_us": 2.0, **dict.fromkeys(FAULTS, 0)}
compiled = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


async def load(app: Any, wire: str, connections: int) -> dict[str, Any]:
    await asyncio.to_thread(wire_load.build)
    async with on_assay(app) as port:
        return await asyncio.to_thread(run_load, port, wire, connections, 0.2)


@compiled
@pytest.mark.parametrize("connections", [1, 8])
@pytest.mark.parametrize("wire", wire_load.WIRES)
async def test_right_answers_are_counted(wire: str, connections: int) -> None:
    figures = await load(assay_async.app(), wire, connections)
    assert 0 < figures["p50_us"] <= figures["p99_us"] <= figures["max_us"]


@compiled
@pytest.mark.parametrize("wire", wire_load.WIRES)
async def test_wrong_answers_are_noticed(wire: str) -> None:
    server = Server("wrong")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a - b

    with pytest.raises(VoidFigure, match="wrong answers"):
        await load(server.asgi(), wire, 1)


@compiled
@pytest.mark.parametrize("wire", wire_load.WIRES)
async def test_refusals_are_noticed(wire: str) -> None:
    with pytest.raises(VoidFigure, match="were refused"):
        await load(assay_async.server.asgi(allowed_hosts=["other.example"]), wire, 2)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_single_fault_voids_the_figure(fault: str) -> None:
    assert read_figures(json.dumps(FIGURES).encode()) == FIGURES
    with pytest.raises(VoidFigure, match=f"^1 {FAULTS[fault]}"):
        read_figures(json.dumps({**FIGURES, fault: 1}).encode())


def test_a_run_without_calls_is_void() -> None:
    with pytest.raises(VoidFigure, match="no call"):
        read_figures(json.dumps({**FIGURES, "calls": 0}).encode())


def test_a_compiler_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(wire_load, "BINARY", tmp_path / "load")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(VoidFigure, match="C compiler"):
        wire_load.build()
