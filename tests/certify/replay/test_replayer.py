"""The client's side of a recording, played again: the reference server gives the same answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from assay import Context, SeededSources, Server
from assay.bundled.reference import make_server
from assay.certify.replay.comparison import Comparison, compare
from assay.certify.replay.conversation import Request, ask
from assay.certify.replay.replayer import Replayer
from assay.certify.replay.step import Action, steps_of
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE, REVISIONS
from assay.revisions.revision import Opening, Revision
from tests.certify.replay.in_memory import facts_of, first_recording, recorded
from tests.lab.traces import request, result, stdio_trace

START = datetime(2026, 1, 1, tzinfo=UTC)
QUICK: dict[str, Any] = {"long_task": {"seconds": 0, "steps": 2}, "count": {"to": 1}}


def reference(seed: str = "a") -> Callable[[], Server]:
    def make() -> Server:
        server = make_server()
        server.sources = SeededSources(START, seed)
        return server

    return make


async def replayed(trace: Trace, make: Callable[[], Server]) -> Comparison:
    return compare(trace, await again(trace, make))


async def again(trace: Trace, make: Callable[[], Server]) -> Trace:
    facts = Facts(trace.header.revision)
    return await recorded(make, trace.revision, Replayer(trace).converse, facts)


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
async def test_the_reference_server_repeats_itself(revision: Revision) -> None:
    trace = await first_recording(reference(), revision, **QUICK)
    comparison = await replayed(trace, reference())
    assert comparison.divergences == []
    assert comparison.matched == comparison.pairs > 30
    methods = {message.method for step in steps_of(trace) for message in step.messages}
    assert {"tools/list", "tools/call", "resources/read", "prompts/get"} <= methods


async def test_another_seed_diverges_in_the_call_that_uses_it_and_nowhere_else() -> None:
    trace = await first_recording(reference("a"), HANDSHAKE[-1], **QUICK)
    comparison = await replayed(trace, reference("b"))
    (divergence,) = comparison.divergences
    assert divergence.fixture.startswith("tools/call roll_dice")
    assert divergence.difference.at == "/result/content/0/text"
    assert comparison.matched == comparison.pairs - 1


def asking(answer: str = "Hello") -> Callable[[], Server]:
    def make() -> Server:
        server = Server("asking")

        @server.tool
        async def greet(ctx: Context) -> str:
            roots = await ctx.roots()
            await ctx.log("info", f"{len(roots)} roots")
            return f"{answer}, {len(roots)} roots"

        return server

    return make


@pytest.mark.parametrize("revision", [HANDSHAKE[-1], REVISIONS[-1]], ids=str)
async def test_questions_get_the_recorded_answers(revision: Revision) -> None:
    facts = await facts_of(asking(), revision)
    trace = await recorded(asking(), revision, ask([Request("tools/call", {"name": "greet"})]), facts)
    assert (await replayed(trace, asking())).divergences == []
    retries = [step for step in steps_of(trace) if "requestState" in step.messages[0].params]
    assert bool(retries) is (revision.opening is Opening.PER_REQUEST)
    (divergence,) = (await replayed(trace, asking("Hi"))).divergences
    assert divergence.difference.at == "/result/content/0/text"


async def test_cursors_are_renewed() -> None:
    """The second process signs its cursors with another key, and refuses those of the first."""
    trace = await first_recording(reference(), HANDSHAKE[-1], **QUICK)
    old = {
        step.messages[0].params["cursor"] for step in steps_of(trace) if "cursor" in step.messages[0].params
    }
    new = await again(trace, reference())
    sent = {message.params["cursor"] for message in new.messages if "cursor" in message.params}
    assert len(old) == len(sent) == 1


async def test_a_server_that_stops_answering_leaves_its_fixtures_unmatched() -> None:
    trace = await first_recording(reference(), HANDSHAKE[-1], **QUICK)
    half = Trace(trace.header, trace.frames[: len(trace.frames) // 2])
    comparison = compare(trace, half)
    assert comparison.divergences
    assert comparison.matched < comparison.pairs


def test_sentinels_answers_and_marks_are_no_steps() -> None:
    trace = stdio_trace(
        (">", request(1, "tools/list")),
        ("<", request("q", "roots/list")),
        (">", result("q", roots=[])),
        ("<", result(1, tools=[])),
        (">", {"jsonrpc": "2.0", "method": "notifications/x"}),
        (">", request("sentinel-1-1", "ping")),
        (">", [request(3, "ping"), request(4, "ping")]),
        (">", b"not JSON\n"),
    )
    actions = [step.action for step in steps_of(trace)]
    assert actions == [Action.REQUEST, Action.NOTIFY, Action.BATCH, Action.RAW]
