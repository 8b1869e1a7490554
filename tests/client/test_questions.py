"""Questions of the server and its notifications: one handler for both ways of asking."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from assay import (
    Change,
    Client,
    ClientLimits,
    Context,
    ElicitationRequest,
    Elicited,
    InvalidAnswer,
    LogMessage,
    Root,
    RpcError,
    Sampled,
    SamplingRequest,
    Server,
    Text,
    ToolFailed,
)
from assay.client.answer import Handlers
from assay.client.callback import CallbackQueue
from assay.client.change_hub import ChangeHub
from assay.client.incoming import Incoming
from assay.client.listening import CallbackStream
from assay.client.settings import Notices
from assay.protocol.codec import decode_message
from assay.revisions.registry import DATES
from tests.client.everything import TRANSPORTS, connected
from tests.client.scripted import (
    DISCOVERY,
    INITIALIZED,
    HttpRequest,
    Writer,
    answering,
    http_response,
    raw_http,
    result,
)
from tests.driving.answer import PATIENCE

NEWEST, BEFORE = DATES[-1], DATES[-2]
both = pytest.mark.parametrize("revision", [BEFORE, NEWEST])
transports = pytest.mark.parametrize("transport", TRANSPORTS)


async def answer(request: ElicitationRequest) -> dict[str, Any]:
    assert request.requested_schema is not None
    return {name: "blue" for name in request.requested_schema["properties"]}


def sample(request: SamplingRequest) -> str:
    content = request.messages[0].content
    assert isinstance(content, Text)
    return f"answer to {content.text}"


@transports
@both
async def test_handlers_answer_in_both_ways_on_every_transport(transport: str, revision: str) -> None:
    async with connected(
        transport, revision=revision, elicitation=answer, sampling=sample, roots=["/data"]
    ) as client:
        assert (await client.call("test_input_required_result_elicitation")).text == "Hello, blue!"
        text = (await client.call("test_input_required_result_multiple_inputs")).text
        assert text.endswith("answer to Say hello; 1 roots") and '"name":"blue"' in text
        rounds = (await client.call("test_input_required_result_multi_round")).text
        assert '"name":"blue"' in rounds and '"color":"blue"' in rounds


@both
async def test_a_prompt_may_ask_too(revision: str) -> None:
    async with connected("memory", revision=revision, elicitation=answer) as client:
        prompt = await client.prompt("test_input_required_result_prompt")
        assert prompt.messages[0].content == Text('Use this context: {"context":"blue"}')


@both
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (None, "action=decline, content={}"),
        (Elicited("cancel"), "action=cancel, content={}"),
        (Elicited("accept", {"name": "Ada"}), 'action=accept, content={"name":"Ada"}'),
        ({"name": "Ada"}, 'action=accept, content={"name":"Ada"}'),
    ],
)
async def test_every_reply_to_a_form_reaches_the_server(revision: str, reply: Any, expected: str) -> None:
    async with connected("memory", revision=revision, elicitation=lambda request: reply) as client:
        assert (await client.call("test_input_required_result_capabilities")).text == expected


@both
async def test_sampled_values_keep_their_model(revision: str) -> None:
    replies = [Sampled("assistant", Text("Paris"), "my-model", "endTurn")]
    async with connected("memory", revision=revision, sampling=lambda request: replies[0]) as client:
        assert (await client.call("test_input_required_result_sampling")).text == "Paris"


@both
async def test_roots_are_paths_uris_or_come_from_a_function(revision: str, tmp_path: Path) -> None:
    async def roots() -> list[Any]:
        return [tmp_path, "https://example.com/data", Root("file:///x", "x")]

    async with connected("memory", revision=revision, roots=roots) as client:
        text = (await client.call("test_input_required_result_list_roots")).text
        assert text == f'["{tmp_path.as_uri()}","https://example.com/data","file:///x"]'


async def test_changed_roots_are_announced_where_the_revision_has_that() -> None:
    for revision, count in ((BEFORE, 1), (NEWEST, 0)):
        messages: list[dict[str, Any]] = []

        async def respond(request: HttpRequest, writer: Writer, messages: Any = messages) -> None:
            messages.append(request.message if request.body else {})
            method = messages[-1].get("method")
            if method == "server/discover":
                writer.write(http_response("200 OK", result(request, DISCOVERY)))
            elif method == "initialize":
                writer.write(http_response("200 OK", result(request, INITIALIZED)))
            else:
                writer.write(http_response("202 Accepted"))

        async with (
            raw_http(respond) as server,
            Client(server.url, revision=revision, roots=lambda: []) as client,
        ):
            await client.roots_changed()
        methods = [message.get("method") for message in messages]
        assert methods.count("notifications/roots/list_changed") == count


async def test_changes_of_another_stream_are_ignored() -> None:
    changes: list[Any] = []
    incoming = Incoming(Handlers(), Notices(), CallbackQueue(9), None, None, ClientLimits(), ChangeHub())  # type: ignore[arg-type]
    incoming.streams = {"assay-2": CallbackStream(changes.append)}
    for stream in ("assay-1", "assay-2"):
        meta = f'{{"_meta":{{"io.modelcontextprotocol/subscriptionId":"{stream}"}}}}'
        body = f'{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{meta}}}'
        incoming.notify(decode_message(body.encode()))
    assert changes == [Change("tools")]


@both
async def test_a_url_to_open_reaches_the_handler(revision: str) -> None:
    server = Server("asking")
    requests: list[ElicitationRequest] = []

    @server.tool
    async def pay(ctx: Context) -> str:
        return (await ctx.elicit_url("Please pay", "https://example.com/pay")).action

    def accept(request: ElicitationRequest) -> Elicited[Any]:
        requests.append(request)
        return Elicited("accept")

    async with Client(server, revision=revision, elicitation=accept) as client:
        assert (await client.call("pay")).text == "accept"
    assert (requests[0].mode, requests[0].url) == ("url", "https://example.com/pay")


async def test_without_a_handler_the_capability_is_not_declared() -> None:
    async with connected("memory", revision=BEFORE) as client:
        with pytest.raises(ToolFailed, match="does not support elicitation"):
            await client.call("test_input_required_result_elicitation")


async def test_a_question_without_a_handler_names_the_option() -> None:
    """A server should not ask what was not declared; this client declares it and has no handler."""
    async with connected("memory", capabilities={"elicitation": {}}) as client:
        with pytest.raises(InvalidAnswer, match="pass elicitation= to Client"):
            await client.call("test_input_required_result_elicitation")


@both
async def test_tools_for_the_model_are_refused_unless_they_are_declared(revision: str) -> None:
    server = Server("asking")

    @server.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.sample("Hello", max_tokens=5, tools=[{"name": "x", "inputSchema": {}}])).text

    declared: dict[str, Any] = {"sampling": {"tools": {}}}
    async with Client(server, revision=revision, sampling=sample, capabilities=declared) as client:
        assert (await client.call("ask")).text == "answer to Hello"


async def test_what_a_server_asks_although_it_is_not_declared_is_refused() -> None:
    handlers = Handlers(sample, answer, None, {"elicitation": {"form": {}}})
    sampling = b'{"messages":[],"maxTokens":1,"tools":[]}'
    url = b'{"message":"x","mode":"url","url":"https://example.com"}'
    for method, params in (("sampling/createMessage", sampling), ("elicitation/create", url)):
        with pytest.raises(RpcError, match="the client does not support"):
            await handlers.answer(method, Raw(params))
    with pytest.raises(RpcError, match="method not found"):
        await handlers.answer("com.example/unknown", Raw(b"{}"))


def fail(request: Any) -> Any:
    raise KeyError("the user's code")


async def test_an_exception_of_a_handler_reaches_the_caller_of_a_retried_call() -> None:
    async with connected("memory", revision=NEWEST, elicitation=fail) as client:
        with pytest.raises(KeyError, match="the user's code"):
            await client.call("test_input_required_result_elicitation")


async def test_an_exception_of_a_handler_is_an_error_for_a_server_that_asks_by_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with connected("memory", revision=BEFORE, elicitation=fail) as client:
        with pytest.raises(ToolFailed, match="the client's handler failed"):
            await client.call("test_input_required_result_elicitation")
    assert "the user's code" in caplog.text


@both
async def test_a_handler_may_call_the_server_itself(revision: str) -> None:
    clients: list[Client] = []

    async def ask(request: ElicitationRequest) -> dict[str, Any]:
        return {"name": (await clients[0].call("test_simple_text")).text[:4]}

    async with connected("memory", revision=revision, elicitation=ask) as client:
        clients.append(client)
        assert (await client.call("test_input_required_result_elicitation")).text == "Hello, This!"


async def test_a_server_that_never_stops_asking_is_stopped_by_a_limit() -> None:
    server = Server("curious")

    @server.tool
    async def ask(ctx: Context) -> str:
        for number in range(100):
            await ctx.elicit("More?", {"type": "object", "properties": {}}, key=str(number))
        return "done"

    async with Client(server, elicitation=lambda _: {}, limits=ClientLimits(rounds=3)) as client:
        with pytest.raises(InvalidAnswer, match="asked again after 3 answers to tools/call"):
            await client.call("ask")


async def test_questions_at_the_same_time_are_bounded() -> None:
    server = Server("curious")
    release = asyncio.Event()

    @server.tool
    async def ask(ctx: Context) -> list[str]:
        form = {"type": "object", "properties": {}}
        questions = [ctx.elicit("More?", form) for _ in range(4)]
        outcomes = await asyncio.gather(*questions, return_exceptions=True)
        return [str(outcome) for outcome in outcomes if isinstance(outcome, Exception)]

    open_questions = 0

    async def reply(request: ElicitationRequest) -> dict[str, Any]:
        nonlocal open_questions
        open_questions += 1
        if open_questions == 3:
            release.set()
        await release.wait()
        return {}

    limits = ClientLimits(questions=3)
    async with Client(server, revision=BEFORE, elicitation=reply, limits=limits) as client:
        assert "too many questions at once: limit 3" in (await client.call("ask")).text


@transports
@both
async def test_log_messages_reach_the_callback(transport: str, revision: str) -> None:
    messages: list[LogMessage] = []
    async with connected(transport, revision=revision, on_log=messages.append) as client:
        await client.call("test_tool_with_logging")
        assert [message.data for message in messages] == [
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed",
        ]
        assert messages[0].level == "info"


@both
async def test_log_messages_below_the_level_are_not_sent(revision: str) -> None:
    messages: list[LogMessage] = []
    options: dict[str, Any] = {"on_log": messages.append, "log_level": "error"}
    async with connected("memory", revision=revision, **options) as client:
        await client.call("test_tool_with_logging")
    assert messages == []


async def test_a_server_that_cannot_set_a_level_is_filtered_here() -> None:
    """As servers on minimcp, which send every message."""
    messages: list[LogMessage] = []
    note = {"jsonrpc": "2.0", "method": "notifications/message"}

    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for level in ("info", "error", "unknown"):
            message = {**note, "params": {"level": level, "data": level}}
            writer.write(b"data: " + json.dumps(message).encode() + b"\n\n")
        writer.write(b"data: " + result(request, {"content": []}) + b"\n\n")

    async with (
        raw_http(answering(respond)) as server,
        Client(server.url, on_log=messages.append, log_level="warning") as client,
    ):
        await client.call_tool("anything", progress=lambda report: None)
    assert [message.level for message in messages] == ["error", "unknown"]


@transports
@both
async def test_changes_reach_the_callback(transport: str, revision: str) -> None:
    changes: asyncio.Queue[Change] = asyncio.Queue()
    async with connected(transport, revision=revision, on_change=changes.put_nowait) as client:
        async with asyncio.timeout(PATIENCE):
            # The stream for changes opens beside the calls: trigger until a change arrives on it.
            while changes.empty():
                await client.call("test_trigger_tool_change")
            assert await changes.get() == Change("tools")


@pytest.mark.parametrize("roots", ["/one/string", 3])
def test_roots_that_are_not_a_list_are_refused(roots: Any) -> None:
    with pytest.raises(TypeError, match="roots must be a list"):
        Client(Server("s"), roots=roots)


async def test_invalid_notifications_are_logged_and_ignored(caplog: pytest.LogCaptureFixture) -> None:
    incoming = Incoming(
        Handlers(), Notices(fail, fail), CallbackQueue(10), None, None, ClientLimits(), ChangeHub()
    )  # type: ignore[arg-type]
    incoming.progress["x"] = fail
    with caplog.at_level(logging.WARNING, "assay.client"):
        for method in ("progress", "message", "resources/updated", "cancelled"):
            body = f'{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{"uri":1}}}}'
            incoming.notify(decode_message(body.encode()))
    assert caplog.text.count("the server sent an invalid notifications/") == 4
