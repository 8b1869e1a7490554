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


def keep(result: CellResult, trace: Trace) -> CellResult:
    return result


async def run_on(tmp_path: Path, versions: list[str]) -> Run:
    path = tmp_path / "informant.py"
    path.write_text(INFORMANT.format(versions=versions), "utf-8")
    subject = CommandSubject([warm_python(), str(path)])
    order = RunSettings(protocol_suite(), Selection(scenarios=("ping",), revisions=(ALONE,)))
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
