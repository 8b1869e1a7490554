"""Servers with one fault each that once led to several findings, or to a wrong one."""

from collections.abc import Sequence

import pytest
from msgspec import Struct

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Request,
    Response,
    edited_results,
    on_batch,
    on_call,
    on_reply,
    on_request,
    result_reply,
)
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.run.defect import defects
from assay.lab.harness.run.folding import counted_once
from assay.lab.harness.run.plan import Cell
from assay.lab.harness.run.recording import run_cell
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.sabotage.saboteur import LocalAnswer, Saboteur, meta_of, params_of
from assay.lab.harness.sabotage.testbed import Testbed
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from assay.revisions.revision import Batching, Revision
from tests.lab.runs import run_of
from tests.meta.tree import expect_none

SUITE = protocol_suite()
OLD, NEW = HANDSHAKE[-1], PER_REQUEST[-1]
WITH_BATCHES = next(each for each in REVISIONS if each.batching is Batching.ACCEPTED)
pytestmark = [pytest.mark.long, pytest.mark.usefixtures("warm_servers")]


def failed(message: Json, code: int) -> LocalAnswer:
    error = {"code": code, "message": "no"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message.get("id"), "error": error}])


@on_request("falls back to a handshake revision after a request without a version", breaks="META-08")
def falls_back(message: Json, context: FaultContext) -> Json | LocalAnswer:
    """Version 2 of the TypeScript SDK, on stdio."""
    method = message.get("method")
    if "id" in message and VERSION_KEY not in meta_of(message):
        context.memory["handshake"] = True
    if "handshake" not in context.memory or method == "initialize":
        return message
    if method == "tools/list":
        return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}])
    return failed(message, -32601)


@on_request("serves requests without version or capabilities", breaks="META-08")
def fills_in(message: Json, context: FaultContext) -> Json:
    if message.get("method") != "server/discover":
        return message
    meta = {VERSION_KEY: context.revision.date, CAPABILITIES_KEY: {}, **meta_of(message)}
    return {**message, "params": {**params_of(message), "_meta": meta}}


@on_call("has no route for GET", breaks="HTTP-01")
def no_get(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404, b"Not Found") if request.method == "GET" else None


@on_call("refuses a foreign Origin with an error without an id", breaks="HTTP-03")
def nameless_refusal(request: Request, context: FaultContext) -> Response | None:
    origin = request.header("origin") or ""
    body = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"invalid origin"}}'
    return Response([("Content-Type", "application/json")], 403, body) if "evil" in origin else None


@on_batch("refuses every batch", breaks="BASE-14")
def no_batches(members: list[Json], context: FaultContext) -> LocalAnswer:
    return LocalAnswer([{"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no batches"}}])


@on_reply("answers completion with an empty list, undeclared", breaks="CMP-03")
def stub(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "result" in reply:
        reply["result"]["capabilities"].pop("completions", None)
    empty: Json = {"completion": {"values": []}}
    return result_reply(reply, empty) if context.method == "completion/complete" else reply


@on_reply("refuses an unknown tool with -32601", breaks="TL-32")
def tool_as_method(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "error" in reply:
        reply["error"]["code"] = -32601
    return reply


class Row(Struct, frozen=True):
    """A fault, where it is judged, and the requirements that count as failed and as warned."""

    fault: Saboteur
    transport: Transport
    revision: Revision
    scenarios: Sequence[str]
    failures: set[str]
    warnings: set[str] = set()


ROWS = (
    Row(falls_back, Transport.STDIO, NEW, ("stateless.discovery", "jsonrpc.malformed"), {"META-08"}),
    Row(fills_in, Transport.STDIO, NEW, ("stateless.discovery",), {"META-08"}),
    Row(no_get, Transport.HTTP, OLD, ("http.version-header", "http.foreign-origin"), set()),
    Row(no_get, Transport.HTTP, OLD, ("http.version-header", "http.endpoint"), {"HTTP-01"}),
    Row(nameless_refusal, Transport.HTTP, OLD, ("http.foreign-origin",), set()),
    Row(no_batches, Transport.STDIO, WITH_BATCHES, ("jsonrpc.batch",), {"BASE-14"}),
    Row(stub, Transport.STDIO, OLD, ("utilities.completion",), set(), {"CMP-03"}),
    Row(tool_as_method, Transport.STDIO, OLD, ("tools.unknown-name",), set(), {"TL-32"}),
    Row(tool_as_method, Transport.STDIO, NEW, ("tools.unknown-name",), {"TL-32"}),
)


async def judged(testbed: Testbed, row: Row) -> Run:
    facts = testbed.known[row.transport][row.revision]
    cells: list[CellResult] = []
    for name in row.scenarios:
        subject = testbed.subject_for(row.fault, row.transport, row.revision)
        cell = Cell(SUITE.scenarios[name], row.transport, row.revision, facts)
        await subject.start()
        try:
            cells.append((await run_cell(cell, subject, SUITE, testbed.conditions))[0])
        finally:
            await subject.stop()
    return run_of(*counted_once(SUITE, cells))


def counted(run: Run, verdict: Verdict) -> set[str]:
    return {defect.finding.requirement for defect in defects(run) if defect.verdict is verdict}


@pytest.mark.timeout(120)
async def test_one_fault_leads_to_the_finding_about_it_and_to_no_other() -> None:
    wrong = []
    async with Testbed(SUITE.server) as testbed:
        for row in ROWS:
            run = await judged(testbed, row)
            found = counted(run, Verdict.FAILURE), counted(run, Verdict.WARNING)
            if found != (row.failures, row.warnings):
                wrong.append(f"{row.fault.id} on {row.transport}: {found}")
    expect_none(wrong)


HINTLESS = edited_results("server/discover", ("no-ttl", "omits `ttlMs`", "CA-01", "ttlMs", ABSENT))[0]
SEVERAL = ("stateless.discovery", "stateless.lists", "jsonrpc.unknown-method", "tools.definitions")


@pytest.mark.timeout(120)
async def test_fault_in_every_scenario_counts_once_with_what_follows_beneath() -> None:
    async with Testbed(SUITE.server) as testbed:
        run = await judged(testbed, Row(HINTLESS, Transport.HTTP, NEW, SEVERAL, {"CA-01"}))
    (defect,) = defects(run)
    assert defect.finding.requirement == "CA-01"
    assert {each.finding.requirement for each in defect.consequences} == {"VER-04", "SHAPE-01"}
    # Only one of the scenarios tests for cache hints.
    assert {cell.scenario for cell in run.cells if cell.outcome is Outcome.FAILED} == {"stateless.lists"}
    assert len(defect.places) == len(SEVERAL)
