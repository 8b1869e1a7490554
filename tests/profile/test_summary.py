"""Effect summaries: on every tool result, and about the right call."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from assay import Context, Server, ToolError
from assay.profile import Profile
from assay.signing import canonical
from tests.driving.describing import DescribingClient, accepted, answering
from tests.profile.market import DATES, EFFECTS, SHARED, answer, market, result, summary

EVERY = pytest.mark.parametrize("date", DATES)
UPDATED = {
    "op": "update",
    "target": {"kind": "file", "id": "notes/42"},
    "before": f"sha256:{sha256(b'old').hexdigest()}",
    "after": f"sha256:{sha256('ü'.encode()).hexdigest()}",
    "bytes": 2,
}


def of(value: Any) -> str:
    return f"sha256:{sha256(canonical.encode(value)).hexdigest()}"


@EVERY
async def test_a_result_tells_of_reportedarguments_and_content(date: str) -> None:
    called = await result(market(), date, "tools/call", name="write", arguments={"text": "ü"})
    reported = called["_meta"][EFFECTS]
    assert reported.pop("callId")
    assert reported == {
        "v": 1,
        "tool": "write",
        "declared": {"readOnly": False, "destructive": True, "idempotent": False, "openWorld": True},
        "effects": [UPDATED],
        "argsDigest": of({"text": "ü"}),
        "resultDigest": of(called["content"]),
        "retention": "short-30d",
    }


@EVERY
async def test_no_reportedis_said_too_and_hints_are_repeated(date: str) -> None:
    reported = await summary(market(), "echo", date=date, message="hi")
    assert (reported["effects"], reported["retention"]) == ([], "standard-365d")
    assert reported["declared"] == {
        "readOnly": True,
        "destructive": True,
        "idempotent": False,
        "openWorld": False,
    }


@EVERY
async def test_a_failed_call_tells_what_it_did_before(date: str) -> None:
    called = await result(market(), date, "tools/call", name="break_off")
    assert called["isError"] is True
    reported = called["_meta"][EFFECTS]
    assert [effect["op"] for effect in reported["effects"]] == ["delete"]
    assert (reported["argsDigest"], reported["resultDigest"]) == (of({}), of(called["content"]))


async def test_bad_arguments_are_told_of_where_they_are_a_result() -> None:
    reported = await summary(market(), "echo", message=1.5)
    assert (reported["argsDigest"], reported["effects"]) == (of({"message": 1.5}), [])


async def test_each_call_has_an_id_of_its_own() -> None:
    server = market()
    ids = {(await summary(each, "echo", message="x"))["callId"] for each in (server, server, market())}
    assert len(ids) == 3


@EVERY
async def test_a_result_that_belongs_to_the_tool_is_not_changed_and_keeps_its_meta(date: str) -> None:
    server = market()
    for _ in range(2):
        called = await result(server, date, "tools/call", name="shared", arguments={})
        assert called["_meta"]["own"] == 1
        assert called["_meta"][EFFECTS]["tool"] == "shared"
    assert SHARED.meta == {"own": 1}


async def test_the_identity_of_the_server_stays_where_results_are_typed() -> None:
    called = await result(market(), DATES[-1], "tools/call", name="echo", arguments={"message": "x"})
    assert called["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "market"
    assert called["resultType"] == "complete"


async def test_a_tool_that_is_registered_anew_is_told_of_anew() -> None:
    server = market()
    assert (await summary(server, "echo", message="x"))["declared"]["readOnly"]
    server.tools.remove("echo")
    server.tool(name="echo")(lambda message: message)
    assert not (await summary(server, "echo", message="x"))["declared"]["readOnly"]


async def test_a_tool_that_removes_itself_is_told_of_as_it_was() -> None:
    server = market()

    @server.tool(annotations={"destructiveHint": False})
    async def vanish() -> None:
        server.tools.remove("vanish")

    assert not (await summary(server, "vanish"))["declared"]["destructive"]


@pytest.mark.parametrize("params", [{}, {"name": 1}, {"name": "no-such"}])
async def test_what_is_no_call_is_refused_as_before(params: dict[str, Any]) -> None:
    plain = Server("plain")
    plain.tool(name="any")(lambda: None)
    refused, usual = [await answer(each, DATES[-2], "tools/call", **params) for each in (market(), plain)]
    assert refused["error"] == usual["error"]


async def test_reportedof_rounds_before_are_told_with_the_answer() -> None:
    async def book(ctx: Context) -> str:
        await ctx.once("reserved", lambda: ctx.effect("create", "seat/7", kind="db"))
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        elicited = await ctx.elicit("Who?", schema)
        ctx.effect("update", "seat/7", kind="db")
        return f"booked for {elicited.content['name']}"

    server = market()
    server.tool(book)
    client = DescribingClient(server)
    question = await client.call("book")
    assert EFFECTS not in question["_meta"]
    called = await client.call("book", answering(question, question_1=accepted(name="Ada")))
    assert [effect["op"] for effect in called["_meta"][EFFECTS]["effects"]] == ["create", "update"]


async def test_reportedfrom_threads_are_told() -> None:
    def work(ctx: Context) -> str:
        ctx.effect("execute", "job", kind="process")
        raise ToolError("stopped")

    server = market()
    server.tool(work)
    assert [effect["op"] for effect in (await summary(server, "work"))["effects"]] == ["execute"]


def test_a_tool_with_a_tier_that_does_not_exist_is_refused_at_once() -> None:
    server = Server("odd")
    server.tool(name="odd", meta={"dev.assay/retention": {"tier": "x"}})(lambda: None)
    with pytest.raises(ValueError, match="odd: unknown retention tier: 'x'"):
        server.use(Profile())
