"""The cost of the profile: only what is really switched on is measured."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from assay.profile import Profile
from bench.peers import assay_profile
from bench.profile_load import ALL, PARTS, PLAIN, PLAIN_READ, TAGGED_READ, check, collecting, expect_evidence
from bench.request import WrongAnswer
from tests.driving.hosts import on_assay


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The server that is measured; what a test puts around it is gone after."""
    monkeypatch.setattr(assay_profile.server.tables, "middlewares", ())
    monkeypatch.setattr(assay_profile.server, "strictness", assay_profile.server.strictness)
    assay_profile.server.tables.clear()
    yield assay_profile.server
    assay_profile.server.tables.clear()


async def checked(server: Any, part: str) -> None:
    async with on_assay(server.asgi()) as port:
        await asyncio.to_thread(check, port, PARTS[part])


@pytest.mark.parametrize("part", [PLAIN, PLAIN_READ])
async def test_plain_server_answers_what_is_measured(served: Any, part: str) -> None:
    await checked(served, part)


@pytest.mark.parametrize("part", ["effects", TAGGED_READ])
async def test_server_with_the_profile_shows_it(served: Any, part: str) -> None:
    served.use(Profile())
    await checked(served, part)


@pytest.mark.parametrize("part", ["effects", "ledger", TAGGED_READ])
async def test_part_that_is_not_on_is_noticed(served: Any, part: str) -> None:
    with pytest.raises(WrongAnswer, match=r"dev\.assay"):
        await checked(served, part)


def test_ledger_that_stays_empty_is_noticed(tmp_path: Path) -> None:
    with collecting() as collector, pytest.raises(WrongAnswer, match="ledger"):
        expect_evidence(PARTS["ledger"], tmp_path, collector)


def test_telemetry_that_stays_silent_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text("{}\n")
    with collecting() as collector, pytest.raises(WrongAnswer, match="exported"):
        expect_evidence(PARTS[ALL], tmp_path, collector)


def test_what_is_exported_is_counted(tmp_path: Path) -> None:
    with collecting() as collector:
        with urlopen(Request(f"{collector.url}/v1/traces", data=b"spans"), timeout=10):
            pass
        expect_evidence(PARTS["telemetry"], tmp_path, collector)
        assert collector.bytes == 5
