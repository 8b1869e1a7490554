"""How the sandbox enters a certification. The sandbox itself is tried in tests/system/test_sandbox.py."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.certify.measurement import MeasurementContext, NotMeasured, Preparation
from assay.certify.options import CertifyOptions
from assay.certify.profile_list import newest
from assay.certify.providers.sandbox import AREAS, HONEST, NETWORK, SandboxProvider, level_of, measured
from assay.certify.sandbox.honesty import ObservedTool, encode, figures_of, observed_tool
from assay.lab.access import Credentials
from assay.lab.error import InvalidOptions
from assay.lab.harness.run.run import FORMAT, Run
from assay.lab.harness.transport import Transport
from assay.lab.options import Access
from assay.lab.target import Command, Target, Url
from assay.sandbox import Level
from assay.sandbox.canary.catalogue import ESCAPES
from assay.sandbox.canary.escape import Outcome
from assay.sandbox.canary.report import Attempted, Report

STDIO = frozenset({"stdio"})


def context(tmp_path: Path, commands: dict[Transport, tuple[str, ...]], **options: Any) -> MeasurementContext:
    run = Run(format=FORMAT, assay="0", started="", seconds=0.0, subjects=[], cells=[], suite="marketplace")
    demands = frozenset(SandboxProvider.demands)
    return MeasurementContext(
        [],
        CertifyOptions(**options),
        STDIO,
        demands,
        Credentials(Access(), None),
        run,
        commands,
        {},
        tuple,
        lambda served: (),
        tmp_path,
    )


@pytest.mark.parametrize(
    ("commands", "option"),
    [({Transport.STDIO: ("python", "server.py")}, "--sandbox"), ({}, "--stdio")],
)
async def test_without_a_sandbox_nothing_is_measured_and_the_option_is_named(
    tmp_path: Path, commands: dict[Transport, tuple[str, ...]], option: str
) -> None:
    results = await SandboxProvider().measure(context(tmp_path, commands))

    assert {result.demand for result in results} == set(SandboxProvider.demands)
    assert all(isinstance(result, NotMeasured) and result.reason.options == (option,) for result in results)


def test_the_demands_are_those_of_the_profile() -> None:
    ids = {demand.id for demand in newest("intelgraph").demands}

    assert set(SandboxProvider.demands) <= ids


def report(through: str = "") -> Report:
    return Report(
        tuple(
            Attempted(item.id, Outcome.SUCCEEDED if item.id == through else Outcome.BLOCKED, "how")
            for item in ESCAPES
        )
    )


@pytest.mark.parametrize("demand", AREAS)
def test_the_figures_of_a_bundle_are_computed_from_its_files(demand: str) -> None:
    further = {"answers.json": b'{"answers": 3}'} if demand == NETWORK else {}

    measurement = measured(demand, report(), {"level": "L3"}, further)

    assert SandboxProvider().figures(demand, measurement.files) == measurement.figures
    assert (measurement.figures["escapes"], measurement.problem) == (0, "")


@pytest.mark.parametrize(
    ("through", "demand"),
    [
        ("dns", NETWORK),
        ("write-home", "CONF-TPT-01.stdio.no-writes"),
        ("ptrace", "CONF-TPT-01.stdio.no-privileges"),
        ("memory", "CONF-TPT-01.stdio.limits"),
    ],
)
def test_an_escape_fails_the_demand_of_its_area_and_no_other(through: str, demand: str) -> None:
    measurements = {name: measured(name, report(through), {}, {}) for name in AREAS}

    assert [name for name, measurement in measurements.items() if measurement.problem] == [demand]
    assert measurements[demand].figures["escapes"] == 1


def test_a_tool_that_only_reads_and_writes_is_counted() -> None:
    data = encode([ObservedTool("honest"), ObservedTool("look", ("tmp/log.txt",))])

    assert figures_of(data) == {"tools": 2, "dishonest": 1}
    assert SandboxProvider().figures(HONEST, {"tools.json": data}) == figures_of(data)


def test_records_of_calls_are_shown_and_do_not_count() -> None:
    tool = observed_tool("sum", [".local/state/assay/ledger/x.jsonl", "tmp/y", ".local/statement"])

    assert tool == ObservedTool("sum", ("tmp/y", ".local/statement"), (".local/state/assay/ledger/x.jsonl",))
    assert figures_of(encode([ObservedTool("sum", (), tool.records)]))["dishonest"] == 0


def test_a_list_of_tools_that_is_none_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        figures_of(b'{"tools": []}')


@pytest.mark.parametrize(("text", "level"), [("auto", None), ("L1", Level.L1), ("L3", Level.L3)])
def test_a_level_is_read(text: str, level: Level | None) -> None:
    assert level_of(text) is level


@pytest.mark.parametrize("text", ["L0", "L4", "", "strong"])
async def test_a_level_that_does_not_exist_is_refused_before_anything_runs(text: str) -> None:
    targets: list[Target] = [Command(("python", "server.py"))]

    with pytest.raises(InvalidOptions, match="not a level"):
        await SandboxProvider().prepare(Preparation(targets, CertifyOptions(sandbox=text), STDIO))


async def test_a_server_at_a_url_is_not_put_into_a_sandbox() -> None:
    provider, options = SandboxProvider(), CertifyOptions(sandbox="auto")

    await provider.prepare(Preparation([Url("http://localhost/mcp")], options, STDIO))

    assert provider.wrap(("python",), options) == ("python",)
