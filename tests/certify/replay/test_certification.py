"""Replay as a measurement: recorded, replayed, stored, and compared again from the files alone."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from assay.certify.measurement import Measurement, MeasurementContext, NotMeasured
from assay.certify.options import CertifyOptions
from assay.certify.providers.replay import DEMAND, PROVIDER
from assay.lab.access import Credentials
from assay.lab.harness.run.run import FORMAT, Run, SubjectRecord
from assay.lab.harness.subject.facts import Facts, Permission
from assay.lab.harness.transport import Transport
from assay.lab.options import Access
from assay.lab.target import Command
from assay.revisions.registry import HANDSHAKE
from tests.lab.matrix.tiny import PROGRAMS

WORDS = (sys.executable, "-I", "-S", str(PROGRAMS / "server.py"))
TOOL = {"name": "greet", "inputSchema": {"type": "object"}}


def wrapped(command: tuple[str, ...]) -> tuple[str, ...]:
    assert command[0] == sys.executable, "a sandbox shows the files of the program that it starts"
    return ("env", "-u", "NOTHING", *command)


def context(tmp_path: Path, *words: str, replay: bool = True, scope: str = "stdio") -> MeasurementContext:
    facts = Facts(HANDSHAKE[-1].date, {"tools": {}}, tools=[TOOL], permission=Permission.DESTRUCTIVE)
    record = SubjectRecord("tiny", Transport.STDIO, facts=[facts])
    run = Run(format=FORMAT, assay="", started="", seconds=0.0, subjects=[record], cells=[])
    return MeasurementContext(
        [Command(words)],
        CertifyOptions(replay=replay),
        frozenset({scope}),
        frozenset({DEMAND}),
        Credentials(Access(), None),
        run,
        {Transport.STDIO: words},
        {},
        wrapped,
        lambda served: (),
        tmp_path,
    )


@pytest.fixture(scope="module")
def measurement(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    (result,) = asyncio.run(PROVIDER.measure(context(tmp_path_factory.mktemp("replay"), *WORDS)))
    assert isinstance(result, Measurement)
    return result


def test_the_figures_are_computed_from_the_stored_files(measurement: Measurement) -> None:
    assert measurement.problem == ""
    assert measurement.figures["success_rate"] == 1.0
    assert measurement.figures["pairs"] >= 3
    name = f"stdio-{HANDSHAKE[-1].date}.ndjson"
    assert set(measurement.files) == {"replay.json", name, f"again-{name}"}
    assert b"greet" in measurement.files[name]
    assert PROVIDER.figures(DEMAND, measurement.files) == measurement.figures


async def test_a_server_that_differs_each_time_fails(tmp_path: Path) -> None:
    source = (
        (PROGRAMS / "server.py")
        .read_text()
        .replace('"name": "greet"', '"name": __import__("os").urandom(8).hex()')
    )
    server = tmp_path / "unsteady.py"
    server.write_text(source)
    (measurement,) = await PROVIDER.measure(context(tmp_path, sys.executable, "-I", "-S", str(server)))
    assert isinstance(measurement, Measurement)
    assert measurement.figures["success_rate"] < 0.95
    assert measurement.figures["matched"] < measurement.figures["pairs"]


@pytest.mark.parametrize("change", ["missing", "changed", "empty"])
def test_files_that_are_not_as_stored_are_refused(change: str, measurement: Measurement) -> None:
    files = dict(measurement.files)
    again = next(name for name in files if name.startswith("again-"))
    match change:
        case "missing":
            del files[again]
        case "changed":
            files[again] = files[again].replace(b"greet", b"greed")
        case _:
            files["replay.json"] = b""
    with pytest.raises(ValueError, match=r"again-|replay\.json"):
        PROVIDER.figures(DEMAND, files)


async def test_without_the_option_or_a_way_to_the_server_nothing_is_measured(tmp_path: Path) -> None:
    (chosen,) = await PROVIDER.measure(context(tmp_path, *WORDS, replay=False))
    assert isinstance(chosen, NotMeasured)
    assert chosen.reason.options == ("--replay",)
    (reached,) = await PROVIDER.measure(context(tmp_path, *WORDS, scope="http"))
    assert isinstance(reached, NotMeasured)


async def test_a_server_that_stops_answering_is_not_measured(tmp_path: Path) -> None:
    silent = context(tmp_path, sys.executable, "-I", "-S", "-c", "import sys; print(sys.stdin.readline())")
    (result,) = await PROVIDER.measure(silent)
    assert isinstance(result, NotMeasured)
