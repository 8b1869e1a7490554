"""`assay serve --clock --random-seed`: seeds from options or the environment."""

from argparse import Namespace
from datetime import UTC, datetime

import pytest

from assay import Server
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.options.seed import use_seeds
from assay.server.calls.source import SYSTEM


def seeded(clock: str | None = None, seed: str | None = None) -> Server:
    server = Server("seeded")
    use_seeds(server, Namespace(clock=clock, random_seed=seed))
    return server


def test_options_go_before_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_CLOCK", "2020-01-01T00:00:00Z")
    monkeypatch.setenv("ASSAY_RANDOM_SEED", "b")
    server = seeded("2026-01-01T00:00:00Z")
    assert server.sources.clock(1).now() == datetime(2026, 1, 1, tzinfo=UTC)
    assert server.sources.random(1).random() == seeded(seed="b").sources.random(1).random()
    assert "seeded by ASSAY_CLOCK, ASSAY_RANDOM_SEED" in capsys.readouterr().err


def test_without_seeds_nothing_is_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ASSAY_CLOCK", raising=False)
    monkeypatch.delenv("ASSAY_RANDOM_SEED", raising=False)
    assert seeded().sources is SYSTEM
    assert not capsys.readouterr().err


def test_an_invalid_time_is_wrong_usage() -> None:
    with pytest.raises(CommandFailed) as failure:
        seeded("yesterday")
    assert failure.value.code is ExitCode.USAGE
