"""Folders and the span receiver that the options of a server ask for."""

from pathlib import Path

from assay.lab.harness.sabotage.environment import Environment


async def test_folders_are_separate_and_only_the_first_is_observed() -> None:
    async with Environment("reference --root {folder} --ledger {ledger} --heartbeat 0.2") as environment:
        name, _, root, _, ledger, *rest = environment.words
        assert (name, rest) == ("reference", ["--heartbeat", "0.2"])
        Path(ledger, "entry").write_text("entry")
        Path(root, "note").write_text("note")
        disk = environment.surroundings.disk
        assert disk is not None
        assert list(disk.state()) == [str(Path(root, "note").resolve())]
    assert not Path(root).exists()
    assert not Path(ledger).exists()


async def test_no_placeholder_creates_nothing() -> None:
    async with Environment("reference") as environment:
        assert environment.words == ("reference",)
        assert environment.surroundings.kinds == []


async def test_placeholder_starts_a_span_receiver() -> None:
    async with Environment("reference --telemetry {otlp}") as environment:
        assert environment.words[2].startswith("http://")
        assert environment.surroundings.kinds == ["spans"]
