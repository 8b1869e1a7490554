"""The client as a client under test: how it ends, and where a fault meets it."""

from typing import Any

import pytest

from assay.lab.harness.sabotage.saboteur import Json, Request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed
from assay.lab.harness.scripted_server.answer import SILENCE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, call, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.transport import Transport
from tests.lab.harness.scripted_client.party import STATELESS, visit

EVERYWHERE = (Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET)


async def test_guest_whose_time_is_over_has_no_status() -> None:
    def prepare(hosting: ClientStage) -> None:
        @hosting.host.on("tools/list")
        async def never(cycle: RequestCycle) -> Answer:
            return SILENCE

    visited = await visit(LIST_TOOLS, prepare=prepare, limit=0.3)
    assert visited.ended.status is None


async def test_guest_that_fails_says_why() -> None:
    visited = await visit(step("dance"))
    assert (visited.ended.status, visited.said) == (1, "there is no step dance\n")


async def test_error_in_what_nobody_waits_for_is_not_lost() -> None:
    def prepare(hosting: ClientStage) -> None:
        @hosting.host.on("tools/list")
        async def ask(cycle: RequestCycle) -> Answer:
            await cycle.send({"jsonrpc": "2.0", "id": "host", "method": "ping"})
            return {"tools": []}

    def break_down(message: Json, client: ScriptedClient) -> Json:
        if "result" in message:
            raise ZeroDivisionError
        return message

    with pytest.raises(ZeroDivisionError):
        await visit(LIST_TOOLS, prepare=prepare, fault={"message": break_down})


async def test_fault_of_a_process_is_a_process() -> None:
    visited = await visit(fault={"command": ("sh", "-c", "echo no >&2; exit 7")})
    assert (visited.ended.status, visited.said) == (7, "no\n")


async def test_habits_are_changed_by_name() -> None:
    visited = await visit(LIST_TOOLS, fault={"behaviour": {"probes": False}}, revision=STATELESS)
    assert visited.asked == ["tools/list"]


async def test_behaviour_takes_the_place_of_the_steps() -> None:
    async def behave(client: ScriptedClient) -> None:
        await client.open()
        await client.request("ping", {})
        raise Failed("enough")

    visited = await visit(LIST_TOOLS, fault={"behave": behave})
    assert (visited.ended.status, visited.asked) == (1, ["initialize", "ping"])


@pytest.mark.parametrize("transport", EVERYWHERE)
async def test_fault_sees_every_message_that_goes_out_and_its_answer_still_finds_back(
    transport: Transport,
) -> None:
    def change(message: Json, client: ScriptedClient) -> Json:
        return {**message, "id": f"odd-{message['id']}"} if "id" in message else message

    visited = await visit(LIST_TOOLS, fault={"message": change}, transport=transport)
    assert visited.ended.status == 0, visited.said
    assert [one.request.id for one in visited.trace.inquiries()] == ["odd-1", "odd-2"]


@pytest.mark.parametrize(("given", "sent"), [(None, 0), ("several", 2), ("bytes", 1)])
async def test_fault_sends_nothing_something_else_or_more(given: str | None, sent: int) -> None:
    def change(message: Json, client: ScriptedClient) -> Any:
        if message.get("method") != "notifications/initialized":
            return message
        return {"several": [message, message], "bytes": b'{"method":"notifications/initialized"}'}.get(
            str(given)
        )

    visited = await visit(LIST_TOOLS, fault={"message": change})
    assert visited.ended.status == 0, visited.said
    found = [one for one in visited.trace.received if one.method == "notifications/initialized"]
    assert len(found) == sent


async def test_request_that_was_never_sent_fails_at_once() -> None:
    visited = await visit(LIST_TOOLS, fault={"message": lambda message, client: None})
    assert (visited.ended.status, visited.said) == (1, "initialize was never sent\n")


async def test_fault_sees_every_http_request() -> None:
    def change(request: Request, client: ScriptedClient) -> Request | None:
        request.set("Accept", "text/odd")
        return None if request.method == "GET" else request

    visited = await visit(LIST_TOOLS, fault={"request": change})
    assert {(one.sent.method, one.sent.get("accept")) for one in visited.trace.calls} == {
        ("POST", "text/odd")
    }


async def test_fault_changes_what_is_heard() -> None:
    def deaf(message: Json, client: ScriptedClient) -> Json | None:
        return None if client.agreed else message

    visited = await visit(call("work"), fault={"hearing": deaf})
    assert visited.ended.status == 1


async def test_fault_changes_lines() -> None:
    visited = await visit(
        LIST_TOOLS, fault={"line": lambda line, client: b"\n" + line}, transport=Transport.STDIO
    )
    lines = [
        one.raw for one in visited.trace.frames if one.kind is Kind.LINE and one.sender is Sender.SUBJECT
    ]
    assert lines[::2] == [b"\n"] * 3
