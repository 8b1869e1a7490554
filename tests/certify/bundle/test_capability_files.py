"""Capability manifests in a bundle: published by the server, or generated from its lists."""

import asyncio
import json

import pytest

from assay.certify.bundle.capability_files import capability_files
from assay.certify.bundle.run_collector import RunCollector
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import Run, SubjectRecord
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import served
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.harness.transport import Transport
from assay.lab.suites import suite_named
from assay.revisions.registry import PER_REQUEST
from tests.certify import runs

pytestmark = pytest.mark.usefixtures("warm_servers")

NAMES = {f"registry/mcp-{kind}.json" for kind in ("tools", "resources", "prompts")}


def nothing(name: str) -> bytes:
    raise AssertionError(f"no trace is read, not even {name}")


def spoken(*facts: Facts, transport: str = "stdio") -> Run:
    return Run(1, "0", "2030-01-01T00:00:00.000Z", 1.0, [SubjectRecord("it", transport, list(facts))], [])


@pytest.mark.parametrize("options", [["--profile", "intelgraph", "--no-ledger"], []])
def test_on_http_they_are_what_the_server_publishes(options: list[str]) -> None:
    collector = RunCollector()
    chosen = Selection(scenarios=("cap.manifests",), revisions=(PER_REQUEST[-1],))
    subject = served("reference", Transport.HTTP, *options)
    runner = Runner(
        RunSettings(suite_named("marketplace"), chosen), [subject], lambda event: None, collector.keep
    )
    collector.add(asyncio.run(runner.run()), Redaction())
    manifests = capability_files(collector.run, collector.files.__getitem__)
    assert manifests.keys() == (NAMES if options else set())
    assert all("scopes" in entry for data in manifests.values() for entry in json.loads(data))


def test_on_stdio_they_are_generated_from_the_newest_lists() -> None:
    tool = {"name": "echo", "description": "Echo.", "inputSchema": {}}
    run = spoken(Facts("1", tools=[]), Facts("2", tools=[tool]))
    manifests = capability_files(run, nothing)
    assert manifests.keys() == NAMES
    digest = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert json.loads(manifests["registry/mcp-tools.json"]) == [
        {"name": "echo", "description": "Echo.", "inputSchemaHash": digest}
    ]
    assert manifests["registry/mcp-prompts.json"] == b"[]"


def test_without_facts_there_are_no_manifests() -> None:
    assert capability_files(spoken(), nothing) == {}
    assert capability_files(runs.run(transports=("http",)), nothing) == {}
