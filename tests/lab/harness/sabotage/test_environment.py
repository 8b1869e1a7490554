"""A server gets the folders that its options ask for, and they go with it."""

from pathlib import Path

from assay.lab.harness.sabotage.environment import Environment


async def test_each_folder_is_its_own_and_only_the_first_is_looked_at() -> None:
    async with Environment("reference --root {folder} --ledger {ledger} --heartbeat 0.2") as furnished:
        name, _, root, _, ledger, *rest = furnished.words
        assert (name, rest) == ("reference", ["--heartbeat", "0.2"])
        Path(ledger, "entry").write_text("entry")
        Path(root, "note").write_text("note")
        disk = furnished.surroundings.disk
        assert disk is not None
        assert list(disk.state()) == [str(Path(root, "note").resolve())]
    assert not Path(root).exists()
    assert not Path(ledger).exists()


async def test_a_server_that_asks_for_nothing_gets_nothing() -> None:
    async with Environment("reference") as furnished:
        assert furnished.words == ("reference",)
        assert furnished.surroundings.kinds == []


async def test_spans_are_received_where_they_are_sent() -> None:
    async with Environment("reference --telemetry {otlp}") as furnished:
        assert furnished.words[2].startswith("http://")
        assert furnished.surroundings.kinds == ["spans"]
