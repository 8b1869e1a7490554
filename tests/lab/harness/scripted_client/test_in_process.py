"""The scripted client as a subject: how it ends, and where each hook of a saboteur applies."""

from typing import Any

import pytest

from assay.lab.harness.sabotage.saboteur import Json, Request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.answer import SILENCE, Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, call_tool, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.transport import Transport
from tests.lab.harness.scripted_client.script_run import STATELESS, run_script

EVERYWHERE = (Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET)


async def test_client_that_times_out_has_no_status() -> None:
    def prepare(stage: ClientStage) -> None:
        @stage.server.on("tools/list")
        async def never(cycle: RequestCycle) -> Answer:
            return SILENCE

    run = await run_script(LIST_TOOLS, prepare=prepare, limit=0.3)
    assert run.exit.status is None


async def test_client_that_fails_says_why() -> None:
    run = await run_script(step("dance"))
    assert (run.exit.status, run.stderr) == (1, "unknown step dance\n")


async def test_error_of_a_background_task_is_raised() -> None:
    def prepare(stage: ClientStage) -> None:
        @stage.server.on("tools/list")
        async def ask(cycle: RequestCycle) -> Answer:
            await cycle.send({"jsonrpc": "2.0", "id": "host", "method": "ping"})
            return {"tools": []}

    def break_down(message: Json, client: ScriptedClient) -> Json:
        if "result" in message:
            raise ZeroDivisionError
        return message

    with pytest.raises(ZeroDivisionError):
        await run_script(LIST_TOOLS, prepare=prepare, fault={"message": break_down})


async def test_fault_of_a_process_is_a_process() -> None:
    run = await run_script(fault={"command": ("sh", "-c", "echo no >&2; exit 7")})
    assert (run.exit.status, run.stderr) == (7, "no\n")


async def test_habits_are_changed_by_name() -> None:
    run = await run_script(LIST_TOOLS, fault={"behaviour": {"probes": False}}, revision=STATELESS)
    assert run.methods == ["tools/list"]


async def test_behaviour_takes_the_place_of_the_steps() -> None:
    async def behave(client: ScriptedClient) -> None:
        await client.open()
        await client.request("ping", {})
        raise StepFailed("enough")

    run = await run_script(LIST_TOOLS, fault={"behave": behave})
    assert (run.exit.status, run.methods) == (1, ["initialize", "ping"])


@pytest.mark.parametrize("transport", EVERYWHERE)
async def test_hook_sees_every_outgoing_message_and_answers_are_still_matched(
    transport: Transport,
) -> None:
    def change(message: Json, client: ScriptedClient) -> Json:
        return {**message, "id": f"odd-{message['id']}"} if "id" in message else message

    run = await run_script(LIST_TOOLS, fault={"message": change}, transport=transport)
    assert run.exit.status == 0, run.stderr
    assert [inquiry.request.id for inquiry in run.trace.subject_exchanges()] == ["odd-1", "odd-2"]


@pytest.mark.parametrize(("output", "sent"), [(None, 0), ("several", 2), ("bytes", 1)])
async def test_hook_returns_none_bytes_or_several_messages(output: str | None, sent: int) -> None:
    def change(message: Json, client: ScriptedClient) -> Any:
        if message.get("method") != "notifications/initialized":
            return message
        return {"several": [message, message], "bytes": b'{"method":"notifications/initialized"}'}.get(
            str(output)
        )

    run = await run_script(LIST_TOOLS, fault={"message": change})
    assert run.exit.status == 0, run.stderr
    methods = [message.method for message in run.trace.received]
    assert methods.count("notifications/initialized") == sent


async def test_request_that_was_never_sent_fails_at_once() -> None:
    run = await run_script(LIST_TOOLS, fault={"message": lambda message, client: None})
    assert (run.exit.status, run.stderr) == (1, "initialize was never sent\n")


async def test_hook_sees_every_http_request() -> None:
    def change(request: Request, client: ScriptedClient) -> Request | None:
        request.set("Accept", "text/odd")
        return None if request.method == "GET" else request

    run = await run_script(LIST_TOOLS, fault={"request": change})
    assert {(call.sent.method, call.sent.get("accept")) for call in run.trace.calls} == {("POST", "text/odd")}


async def test_hook_drops_received_messages() -> None:
    def drop(message: Json, client: ScriptedClient) -> Json | None:
        return None if client.agreed else message

    run = await run_script(call_tool("work"), fault={"received": drop})
    assert run.exit.status == 1


async def test_hook_changes_lines() -> None:
    run = await run_script(
        LIST_TOOLS, fault={"line": lambda line, client: b"\n" + line}, transport=Transport.STDIO
    )
    frames = [frame for frame in run.trace.frames if frame.sender is Sender.SUBJECT]
    lines = [frame.raw for frame in frames if frame.kind is Kind.LINE]
    assert lines[::2] == [b"\n"] * 3
