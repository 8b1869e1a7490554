"""Discovery: a subject supports a revision if it agrees on it, not because it answers."""

from pathlib import Path

from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.subject.subject import CommandSubject
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import protocol_suite
from assay.revisions.registry import DATES, HANDSHAKE, REVISIONS
from assay.revisions.revision import Opening
from tests.driving.warm_python import warm_python

ALONE = next(revision for revision in REVISIONS if revision.opening is Opening.PER_REQUEST)
# Answers `server/discover` in any revision, as a server that only supports older ones may.
INFORMANT = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "server/discover":
        result = {{"supportedVersions": {versions}, "capabilities": {{}}, "resultType": "complete",
                   "ttlMs": 0, "cacheScope": "public"}}
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
    elif "id" in message:
        error = {{"code": -32601, "message": "no such method"}}
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "error": error}}), flush=True)
"""
# Serves a list of the revision without a handshake, and does not know `server/discover`.
SERVANT = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "tools/list":
        tool = {{"name": "look", "inputSchema": {{"type": "object"}}}}
        reply = {{"result": {{"tools": [tool], "ttlMs": 0, "cacheScope": "public", **{more}}}}}
    else:
        reply = {{"error": {{"code": -32601, "message": "no such method"}}}}
    if "id" in message:
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], **reply}}), flush=True)
"""


def keep(result: CellResult, trace: Trace) -> CellResult:
    return result


async def run_on(tmp_path: Path, versions: list[str]) -> Run:
    return await run_program(tmp_path, INFORMANT.format(versions=versions), "ping")


async def run_program(tmp_path: Path, program: str, scenario: str) -> Run:
    path = tmp_path / "server.py"
    path.write_text(program, "utf-8")
    subject = CommandSubject([warm_python(), str(path)])
    order = RunSettings(protocol_suite(), Selection(scenarios=(scenario,), revisions=(ALONE,)))
    return await Runner(order, [subject], lambda event: None, keep).run()


async def test_revision_that_discovery_does_not_list_is_unsupported(tmp_path: Path) -> None:
    older = [revision.date for revision in HANDSHAKE]
    run = await run_on(tmp_path, older)
    assert run.subjects[0].facts == []
    assert f"support for {', '.join(older)}" in run.subjects[0].refused[0].reason


async def test_revision_that_discovery_lists_is_supported(tmp_path: Path) -> None:
    run = await run_on(tmp_path, list(DATES))
    assert [facts.revision for facts in run.subjects[0].facts] == [ALONE.date]


async def test_server_that_lists_no_version_supports_none(tmp_path: Path) -> None:
    run = await run_on(tmp_path, [])
    assert "support for no version" in run.subjects[0].refused[0].reason


async def test_revision_of_a_served_request_is_supported_without_discovery(tmp_path: Path) -> None:
    run = await run_program(
        tmp_path, SERVANT.format(more='{"resultType": "complete"}'), "stateless.discovery"
    )
    (facts,) = run.subjects[0].facts
    assert facts.declares("tools") and [tool["name"] for tool in facts.tools] == ["look"]
    broken = {finding.requirement for cell in run.cells for each in cell.checks for finding in each.findings}
    assert "VER-03" in broken


async def test_list_without_result_type_is_no_sign_of_a_revision_without_handshake(tmp_path: Path) -> None:
    run = await run_program(tmp_path, SERVANT.format(more="{}"), "ping")
    assert run.subjects[0].facts == []
