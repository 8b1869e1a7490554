"""Servers that do nothing: no scenario is green without evidence, however many fixtures are listed."""

import json
from typing import Any

import pytest

from assay.lab.harness.run.conclusion import Conclusion, conclude
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import Runner, RunSettings, SubjectDown
from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

SUITE = suite_named("everything")
DENIES = """
import json, sys

known = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    outcome = {"result": known[method]} if method in known else {"error": {"code": -32601, "message": "no"}}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
"""
TOOLS = ["test_simple_text", "test_error_handling", "test_sampling", "test_tool_with_logging"]
PROMPTS = ["test_simple_prompt", "test_prompt_with_arguments"]
LISTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": HANDSHAKE[-1].date,
        "capabilities": {
            **{area: {} for area in ("tools", "prompts", "logging", "completions")},
            "resources": {"subscribe": True},
        },
        "serverInfo": {"name": "lister", "version": "1"},
    },
    "tools/list": {
        "tools": [{"name": one, "description": one, "inputSchema": {"type": "object"}} for one in TOOLS]
    },
    "prompts/list": {"prompts": [{"name": one, "description": one} for one in PROMPTS]},
    "resources/list": {"resources": [{"uri": "test://watched-resource", "name": "watched"}]},
    "ping": {},
}
TRUE_OF_IT = {"ping", "server-initialize", "tools-list", "prompts-list", "resources-list"}
"""What a server that can only be asked for its lists has really shown."""


async def judged(subject: Subject) -> Run:
    def keep(result: CellResult, trace: Trace) -> CellResult:
        return result

    order = RunSettings(SUITE, Selection(revisions=HANDSHAKE[-1:]), jobs=2)
    return await Runner(order, [subject], lambda event: None, keep).run()


def denying(known: dict[str, Any]) -> Subject:
    """A server that answers nothing but what it is given."""
    return CommandSubject([warm_python(), "-c", DENIES, json.dumps(known)])


async def test_server_that_denies_everything_gets_nothing_green() -> None:
    run = await judged(denying({}))
    assert conclude(run) is Conclusion.INCOMPLETE
    assert not run.cells


async def test_server_that_only_lists_passes_for_its_lists_alone() -> None:
    run = await judged(denying(LISTS))
    green = {cell.scenario for cell in run.cells if cell.outcome in (Outcome.PASSED, Outcome.WARNED)}
    failed = {cell.scenario for cell in run.cells if cell.outcome is Outcome.FAILED}
    assert green == TRUE_OF_IT
    assert {"tools-call-error", "tools-call-sampling", "resources-subscribe", "completion-complete"} <= failed


async def test_closed_port_is_no_server() -> None:
    with pytest.raises(SubjectDown):
        await judged(UrlSubject("http://127.0.0.1:9/mcp", transport=Transport.HTTP))
