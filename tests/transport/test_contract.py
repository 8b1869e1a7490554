"""The same behaviour over every transport and every handshake revision.

Every received message is also validated by the official types of its revision (`Client.judge`).
"""

from __future__ import annotations

from typing import Any

import pytest

from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import BadArguments, Revision, Structured
from tests.driving.client import SESSIONED, TRANSPORTS, connect
from tests.driving.links import HttpLink
from tests.driving.messages import initialize
from tests.transport.subject import WATCHED, Subject

EVERYWHERE = pytest.mark.parametrize("transport", TRANSPORTS)
IN_SESSION = pytest.mark.parametrize("transport", SESSIONED)
pytestmark = pytest.mark.parametrize("revision", HANDSHAKE, ids=str)


@EVERYWHERE
async def test_handshake_settles_the_revision_that_was_asked_for(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision, handshake=False) as client:
        result = await client.shake_hands()
        assert result["protocolVersion"] == revision.date
        assert result["serverInfo"] == {"name": "subject", "version": "1.2.3"}
        assert {"tools", "resources", "prompts", "logging"} <= result["capabilities"].keys()
        assert ("completions" in result["capabilities"]) == ("completions" in revision.capabilities)


@EVERYWHERE
async def test_tools_are_listed_page_by_page(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        names: list[str] = []
        page = await client.result("tools/list")
        while True:
            names += [tool["name"] for tool in page["tools"]]
            if "nextCursor" not in page:
                break
            assert len(page["tools"]) == 4
            page = await client.result("tools/list", {"cursor": page["nextCursor"]})
        assert len(names) == len(set(names)) == 13
        assert {"add", "report", "meet"} <= {*names}


@EVERYWHERE
async def test_unknown_cursor_is_refused(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        assert (await client.error("tools/list", {"cursor": "nowhere"}))["code"] == -32602


@EVERYWHERE
async def test_tool_is_called(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        result = await client.call("add", a=2, b=3)
        assert result["content"] == [{"type": "text", "text": '{"result":5}'}]
        structured = {"result": 5} if revision.structured is not Structured.ABSENT else None
        assert result.get("structuredContent") == structured
        assert not result.get("isError", False)


@EVERYWHERE
async def test_tool_that_fails_answers_with_an_error_result(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        refused = await client.call("refuse")
        assert (refused["isError"], refused["content"][0]["text"]) == (True, "not today")
        crashed = await client.call("crash")
        assert crashed["isError"] is True
        assert "secret" not in str(crashed)


@EVERYWHERE
async def test_unknown_names_have_their_codes(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        assert (await client.error("no/such/method"))["code"] == -32601
        assert (await client.error("tools/call", {"name": "nobody"}))["code"] == -32602
        assert (await client.error("prompts/get", {"name": "nobody"}))["code"] == -32602
        missing = await client.error("resources/read", {"uri": "test://nowhere"})
        assert (missing["code"], missing["data"]) == (-32002, {"uri": "test://nowhere"})


@EVERYWHERE
@pytest.mark.parametrize("arguments", [{"a": "two", "b": 3}, {"a": 2}])
async def test_bad_arguments_are_answered_as_the_revision_says(
    transport: str, revision: Revision, arguments: dict[str, Any]
) -> None:
    """server/tools#error-handling: a JSON-RPC error, or a result with `isError` in newer revisions."""
    async with connect(Subject().server, transport, revision) as client:
        params = {"name": "add", "arguments": arguments}
        if revision.bad_arguments is BadArguments.RPC_ERROR:
            assert (await client.error("tools/call", params))["code"] == -32602
        else:
            assert (await client.result("tools/call", params))["isError"] is True


@EVERYWHERE
@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": "add", "arguments": {}, "_meta": []}])
async def test_malformed_call_is_a_protocol_error_everywhere(
    transport: str, revision: Revision, params: dict[str, Any]
) -> None:
    """-32602 remains for a request that is malformed itself (server/tools#error-handling)."""
    async with connect(Subject().server, transport, revision) as client:
        if "_meta" in params:
            params = {**params, "name": "report"}
        answer = await client.answer(await client.begin("tools/call", params))
        assert answer.get("error", {}).get("code") == -32602, answer


@EVERYWHERE
async def test_resources_are_listed_and_read(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        listed = await client.result("resources/list")
        assert [resource["uri"] for resource in listed["resources"]] == [WATCHED]
        templates = await client.result("resources/templates/list")
        assert [template["uriTemplate"] for template in templates["resourceTemplates"]] == ["notes://{name}"]
        read = await client.result("resources/read", {"uri": "notes://shopping"})
        assert read["contents"] == [
            {"uri": "notes://shopping", "mimeType": "text/markdown", "text": "# shopping"}
        ]


@EVERYWHERE
async def test_prompt_is_filled_in(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        listed = (await client.result("prompts/list"))["prompts"]
        assert [argument["name"] for argument in listed[0]["arguments"]] == ["code", "language"]
        got = await client.result("prompts/get", {"name": "review", "arguments": {"code": "x=1"}})
        text = {"type": "text", "text": "Review this python: x=1"}
        assert got["messages"] == [{"role": "user", "content": text}]
        assert (await client.error("prompts/get", {"name": "review"}))["code"] == -32602


@EVERYWHERE
async def test_arguments_are_completed(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        prompt = {"ref": {"type": "ref/prompt", "name": "review"}}
        params = {**prompt, "argument": {"name": "language", "value": "p"}}
        completion = (await client.result("completion/complete", params))["completion"]
        assert completion == {"values": ["python", "perl"], "total": 2, "hasMore": False}
        template = {"ref": {"type": "ref/resource", "uri": "notes://{name}"}}
        params = {**template, "argument": {"name": "name", "value": "alpha"}}
        completion = (await client.result("completion/complete", params))["completion"]
        assert completion["values"] == ["alpha", "alphabet"]
        unknown = {**prompt, "argument": {"name": "nothing", "value": ""}}
        assert (await client.error("completion/complete", unknown))["code"] == -32602


@EVERYWHERE
async def test_ping_is_answered_with_nothing(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        assert await client.result("ping") == {}


@EVERYWHERE
@pytest.mark.parametrize("request_id", [0, -(2**53), "ünï"])
async def test_ids_come_back_as_they_were(transport: str, revision: Revision, request_id: Any) -> None:
    async with connect(Subject().server, transport, revision) as client:
        await client.begin("ping", request_id=request_id)
        answer = await client.answer(request_id)
        assert type(answer["id"]) is type(request_id)
        assert answer["result"] == {}


@EVERYWHERE
async def test_null_id_is_refused(transport: str, revision: Revision) -> None:
    """basic/index#requests: an id is a string or an integer, never null. The error has no id."""
    async with connect(Subject().server, transport, revision) as client:
        await client.link.send({"jsonrpc": "2.0", "id": None, "method": "ping"})
        refused = await client.until(
            lambda: next((each for each in client.messages if "error" in each), None)
        )
        assert refused["error"]["code"] == -32600
        assert "id" not in refused


@EVERYWHERE
async def test_calls_overlap(transport: str, revision: Revision) -> None:
    """None of the three calls returns before all have begun."""
    async with connect(Subject().server, transport, revision) as client:
        begun = [
            await client.begin("tools/call", {"name": "meet", "arguments": {"parties": 3}}) for _ in "abc"
        ]
        texts = [(await client.answer(each))["result"]["content"][0]["text"] for each in begun]
        assert texts == ["met"] * 3


@EVERYWHERE
async def test_batch_is_served_only_where_the_revision_has_batches(
    transport: str, revision: Revision
) -> None:
    async with connect(Subject().server, transport, revision) as client:
        for request_id in ("one", "two"):
            client._methods[request_id] = "ping"
        pings = [{"jsonrpc": "2.0", "id": each, "method": "ping"} for each in ("one", "two")]
        await client.link.send([*pings, {"jsonrpc": "2.0", "method": "notifications/cancelled"}])
        if revision.batching.value == "accepted":
            assert (await client.answer("one"))["result"] == {}
            assert (await client.answer("two"))["result"] == {}
        else:
            refused = await client.until(
                lambda: next((each for each in client.messages if "error" in each), None)
            )
            assert (refused["error"]["code"], "id" in refused) == (-32600, False)


@EVERYWHERE
async def test_unknown_notifications_are_ignored(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        await client.notify("notifications/whatever", {"a": 1})
        await client.notify("notifications/cancelled", {"requestId": "never sent"})
        await client.notify("notifications/cancelled", {"nonsense": True})
        assert await client.result("ping") == {}
        assert [each for each in client.messages if "error" in each] == []


@IN_SESSION
async def test_progress_is_reported_only_with_a_token(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        await client.call("report")
        assert client.of("notifications/progress") == []
        params = {"name": "report", "arguments": {"steps": 3}, "_meta": {"progressToken": "t"}}
        await client.result("tools/call", params)
        reported = [message["params"] for message in client.of("notifications/progress")]
        assert reported == [
            {"progressToken": "t", "progress": step, "total": 3, "message": f"step {step}"}
            for step in (1, 2, 3)
        ]
        # All of it before the answer, which is the last message.
        assert "result" in client.messages[-1]


@IN_SESSION
async def test_nothing_is_reported_after_the_result(transport: str, revision: Revision) -> None:
    """PRG-05: a context cannot be used after its request has ended."""
    subject = Subject()
    async with connect(subject.server, transport, revision, listen=True) as client:
        await client.result("tools/call", {"name": "keep", "_meta": {"progressToken": 1}})
        assert subject.last_context is not None
        await subject.last_context.progress(1)
        await subject.last_context.log("error", "too late")
        await client.result("ping")
        assert [each for each in client.messages if "method" in each] == []


@IN_SESSION
async def test_log_level_belongs_to_the_session(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        await client.call("say", level="debug", text="unheard")
        await client.call("say", level="info", text="heard")
        assert await client.result("logging/setLevel", {"level": "error"}) == {}
        await client.call("say", level="warning", text="unheard")
        await client.call("say", level="critical", text="heard too")
        entries = [message["params"] for message in client.of("notifications/message")]
        assert [(each["level"], each["data"]) for each in entries] == [
            ("info", "heard"),
            ("critical", "heard too"),
        ]
        assert (await client.error("logging/setLevel", {"level": "loud"}))["code"] == -32602


@IN_SESSION
async def test_subscriber_gets_updates_until_it_unsubscribes(transport: str, revision: Revision) -> None:
    subject = Subject()
    async with connect(subject.server, transport, revision, listen=True) as client:
        await client.call("touch")
        assert await client.result("resources/subscribe", {"uri": WATCHED}) == {}
        await client.call("touch", uri="test://other")
        await client.call("touch")
        updated = await client.received("notifications/resources/updated")
        assert updated["params"] == {"uri": WATCHED}
        assert await client.result("resources/unsubscribe", {"uri": WATCHED}) == {}
        await client.call("touch")
        # Uses the path of an update, and would arrive after it.
        subject.server.tools.remove("add")
        await client.received("notifications/tools/list_changed")
        assert len(client.of("notifications/resources/updated")) == 1


@IN_SESSION
async def test_list_change_is_announced_once(transport: str, revision: Revision) -> None:
    subject = Subject()
    async with connect(subject.server, transport, revision, listen=True) as client:
        await client.result("ping")  # so that `initialized` has arrived as well
        subject.server.tools.remove("add")
        subject.server.tools.remove("crash")
        await client.received("notifications/tools/list_changed")
        subject.server.prompts.remove("review")
        await client.received("notifications/prompts/list_changed")
        assert len(client.of("notifications/tools/list_changed")) == 1
        assert (await client.error("tools/call", {"name": "add"}))["code"] == -32602


@IN_SESSION
async def test_cancelled_request_is_stopped_and_never_answered(transport: str, revision: Revision) -> None:
    """CAN-06: the handler stops and no answer follows."""
    subject = Subject()
    async with connect(subject.server, transport, revision) as client:
        held = await client.begin("tools/call", {"name": "hold"})
        await subject.started.wait()
        await client.notify("notifications/cancelled", {"requestId": held, "reason": "enough"})
        await subject.cancelled.wait()
        await client.result("ping")
        await client.link.settled()
        assert client.answers(held) == []
        await client.notify("notifications/cancelled", {"requestId": held})
        assert await client.result("ping") == {}


@IN_SESSION
async def test_cancelled_thread_is_notified_and_never_answered(transport: str, revision: Revision) -> None:
    subject = Subject()
    async with connect(subject.server, transport, revision) as client:
        held = await client.begin("tools/call", {"name": "hold_in_thread"})
        await subject.started.wait()
        await client.notify("notifications/cancelled", {"requestId": held})
        await client.result("ping")
        await client.link.settled()
        subject.release.set()
        await client.result("ping")
        assert client.answers(held) == []


@IN_SESSION
async def test_client_is_asked_to_sample(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision, capabilities={"sampling": {}}) as client:
        calling = await client.begin("tools/call", {"name": "sample", "arguments": {"prompt": "Hello?"}})
        question = await client.received("sampling/createMessage")
        text = {"type": "text", "text": "Hello?"}
        assert question["params"] == {"messages": [{"role": "user", "content": text}], "maxTokens": 7}
        answer = {"role": "assistant", "content": {"type": "text", "text": "Hi."}, "model": "m"}
        await client.respond(question, result=answer)
        assert (await client.answer(calling))["result"]["content"][0]["text"] == "Hi."


@IN_SESSION
async def test_client_is_asked_for_roots(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision, capabilities={"roots": {}}) as client:
        calling = await client.begin("tools/call", {"name": "roots"})
        question = await client.received("roots/list")
        await client.respond(question, result={"roots": [{"uri": "file:///home"}]})
        assert "file:///home" in str((await client.answer(calling))["result"])


@IN_SESSION
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_user_is_asked_where_the_revision_can(transport: str, revision: Revision, action: str) -> None:
    subject = Subject()
    async with connect(subject.server, transport, revision, capabilities={"elicitation": {}}) as client:
        calling = await client.begin("tools/call", {"name": "elicit"})
        if not revision.elicitation:
            result = (await client.answer(calling))["result"]
            assert (result["isError"], subject.answered) == (True, None)
            return
        question = await client.received("elicitation/create")
        assert question["params"]["message"] == "Who are you?"
        content = {"content": {"name": "Ada"}} if action == "accept" else {}
        await client.respond(question, result={"action": action, **content})
        assert (await client.answer(calling))["result"]["content"][0]["text"] == action
        assert subject.answered.content == ({"name": "Ada"} if action == "accept" else None)


@IN_SESSION
async def test_client_that_refuses_or_cannot_be_asked_fails_only_the_tool(
    transport: str, revision: Revision
) -> None:
    async with connect(Subject().server, transport, revision, capabilities={"sampling": {}}) as client:
        calling = await client.begin("tools/call", {"name": "sample", "arguments": {"prompt": "?"}})
        question = await client.received("sampling/createMessage")
        await client.respond(question, error={"code": -1, "message": "user said no"})
        result = (await client.answer(calling))["result"]
        assert result["isError"] is True
        assert "user said no" in result["content"][0]["text"]
        unasked = await client.call("roots")
        assert unasked["isError"] is True
        assert "roots" in unasked["content"][0]["text"]
        assert client.of("roots/list") == []


@IN_SESSION
async def test_second_initialize_is_refused(transport: str, revision: Revision) -> None:
    async with connect(Subject().server, transport, revision) as client:
        refused = await client.error("initialize", initialize(revision)["params"])
        assert refused["code"] == -32600
        assert await client.result("ping") == {}


@IN_SESSION
async def test_id_in_use_is_refused_and_the_first_request_continues(
    transport: str, revision: Revision
) -> None:
    subject = Subject()
    async with connect(subject.server, transport, revision) as client:
        held = await client.begin("tools/call", {"name": "hold"})
        await subject.started.wait()
        await client.begin("tools/call", {"name": "hold"}, request_id=held)
        assert (await client.answer(held))["error"]["code"] == -32600
        subject.release.set()
        await client.until(lambda: client.answers(held)[1:] or None)
        assert client.answers(held)[1]["result"]["content"][0]["text"] == "released"
        await client.begin("ping", request_id=held)
        assert (await client.until(lambda: client.answers(held)[2:] or None))[0]["result"] == {}


@pytest.mark.parametrize("transport", ["memory", "stdio", "websocket"])
async def test_request_before_initialize_is_refused(transport: str, revision: Revision) -> None:
    """basic/lifecycle#initialization: only `ping` may come first. The error names the supported versions."""
    async with connect(Subject().server, transport, revision, handshake=False) as client:
        refused = await client.error("tools/list")
        assert refused["code"] == -32602
        assert revision.date in refused["data"]["supported"]
        assert await client.result("ping") == {}
        await client.shake_hands()
        assert (await client.result("tools/list"))["tools"]


@IN_SESSION
async def test_nothing_is_asked_before_the_client_is_initialized(transport: str, revision: Revision) -> None:
    """LIFE-06: no request but ping before `notifications/initialized`."""
    subject = Subject()
    async with connect(subject.server, transport, revision, handshake=False) as client:
        params = initialize(revision, {"roots": {}})["params"]
        await client.result("initialize", params)
        if isinstance(client.link, HttpLink):
            client.link.peer.version = revision.date
        subject.server.tools.remove("add")
        result = await client.call("roots")
        assert result["isError"] is True
        assert [each for each in client.messages if "method" in each] == []
