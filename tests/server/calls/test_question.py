"""Questions to the client: requests, answers, and what cannot be asked."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from assay import (
    Audio,
    Contents,
    Context,
    Elicited,
    EmbeddedResource,
    Image,
    Message,
    ResourceLink,
    Root,
    Sampled,
    Server,
    Text,
)
from tests.server.scripted import (
    BATCHING,
    FIRST,
    GUARD,
    NEWEST,
    STRUCTURED,
    ScriptedClient,
    call,
    finished,
    quiescence,
)

EVERYTHING = {"sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}, "roots": {}}
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}
Question = Callable[[Context], Awaitable[Any]]


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Person:
    name: str
    age: int = 30
    color: Color = Color.RED


PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "default": 30},
        "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
    },
    "required": ["name"],
}
CHOICES = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}},
}
QUESTIONS: dict[str, tuple[Question, str]] = {
    "sampling": (lambda ctx: ctx.sample("hi"), "sampling/createMessage"),
    "elicitation": (lambda ctx: ctx.elicit("who?", Person), "elicitation/create"),
    "roots": (lambda ctx: ctx.roots(), "roots/list"),
}


class Asker:
    """A server with one tool that asks a question and stores the answer."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.answers: list[Any] = []
        self.server = Server("test")
        self.server.tools.add(self.ask)

    async def ask(self, ctx: Context) -> None:
        self.answers.append(await self.question(ctx))


async def exchange(question: Question, answer: Any, **options: Any) -> tuple[dict[str, Any], Any]:
    """Ask and answer; returns the request and what the handler got."""
    asker = Asker(question)
    async with ScriptedClient(asker.server, capabilities=EVERYTHING, **options) as client:
        task = client.start_call("ask")
        request = await client.receive()
        await client.answer(request, answer)
        result = (await finished(task))["result"]
        assert len(client.session.outgoing_requests) == 0
    if result.get("isError"):
        return request, result["content"][0]["text"]
    (got,) = asker.answers
    return {name: request.get(name) for name in ("method", "params")}, got


async def refusal(question: Question, **options: Any) -> str:
    """The error text that the model reads if the question cannot be asked."""
    asker = Asker(question)
    async with ScriptedClient(asker.server, **options) as client:
        result = await client.call("ask")
        assert (result["isError"], client.received_so_far(), asker.answers) == (True, [], [])
        text: str = result["content"][0]["text"]
        return text


async def test_sample_is_asked_and_read() -> None:
    request, got = await exchange(
        lambda ctx: ctx.sample("hi", max_tokens=5, system_prompt="be brief", stop_sequences=["."]), SAMPLED
    )
    assert request == {
        "method": "sampling/createMessage",
        "params": {
            "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
            "maxTokens": 5,
            "systemPrompt": "be brief",
            "stopSequences": ["."],
        },
    }
    assert got == Sampled("assistant", Text("hi"), "m")


@pytest.mark.parametrize(
    ("messages", "sent"),
    [
        (Text("a"), [{"role": "user", "content": {"type": "text", "text": "a"}}]),
        (Message("assistant", Text("a")), [{"role": "assistant", "content": {"type": "text", "text": "a"}}]),
        (
            ["a", Image(b"", "image/png")],
            [
                {"role": "user", "content": {"type": "text", "text": "a"}},
                {"role": "user", "content": {"type": "image", "data": "", "mimeType": "image/png"}},
            ],
        ),
        ([{"role": "user", "content": []}], [{"role": "user", "content": []}]),
    ],
)
async def test_messages_of_a_sample(messages: Any, sent: Any) -> None:
    request, _ = await exchange(lambda ctx: ctx.sample(messages), SAMPLED)
    assert request["params"]["messages"] == sent


@pytest.mark.parametrize(
    ("block", "revision", "kind"),
    [
        (Audio(b"", "audio/wav"), FIRST, "audio"),
        (ResourceLink("a://b", "b"), NEWEST, "resource_link"),
        (EmbeddedResource(Contents("a://b", text="")), NEWEST, "resource"),
    ],
)
async def test_unsupported_sampling_content_is_refused(block: Any, revision: str, kind: str) -> None:
    """Sampling messages may have text, images and, if the revision has it, audio."""
    text = await refusal(lambda ctx: ctx.sample(block), revision=revision, capabilities={"sampling": {}})
    assert text == f"the client's protocol revision cannot sample from {kind} content"


async def test_sampling_with_tools_is_sent_to_clients_that_support_it() -> None:
    tools = [{"name": "add", "inputSchema": {"type": "object"}}]
    request, got = await exchange(
        lambda ctx: ctx.sample("hi", tools=tools, tool_choice={"mode": "auto"}),
        {**SAMPLED, "content": [{"type": "tool_use", "id": "1", "name": "add", "input": {}}]},
    )
    assert (request["params"]["tools"], request["params"]["toolChoice"]) == (tools, {"mode": "auto"})
    assert got.content[0].name == "add"


@pytest.mark.parametrize(
    ("revision", "sampling"), [(NEWEST, {}), (STRUCTURED, {"tools": {}}), (FIRST, {"tools": {}})]
)
async def test_sampling_with_tools_is_refused_for_other_clients(revision: str, sampling: Any) -> None:
    text = await refusal(
        lambda ctx: ctx.sample("hi", tools=[]), revision=revision, capabilities={"sampling": sampling}
    )
    assert text == "the client does not support sampling with tools"


async def test_roots_are_asked_and_read() -> None:
    request, got = await exchange(
        lambda ctx: ctx.roots(), {"roots": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b"}]}
    )
    assert request == {"method": "roots/list", "params": None}
    assert got == [Root("file:///a", "a"), Root("file:///b")]


async def test_ping_is_asked_of_any_client() -> None:
    asker = Asker(lambda ctx: ctx.ping())
    async with ScriptedClient(asker.server) as client:
        task = client.start_call("ask")
        request = await client.receive()
        await client.answer(request, {})
        assert (request["method"], (await finished(task))["result"]) == ("ping", {"content": []})


async def test_form_is_asked_and_read_into_its_type() -> None:
    request, got = await exchange(
        lambda ctx: ctx.elicit("who?", Person),
        {"action": "accept", "content": {"name": "Ada", "color": "blue"}},
    )
    assert request == {
        "method": "elicitation/create",
        "params": {"message": "who?", "requestedSchema": PERSON},
    }
    assert got == Elicited("accept", Person("Ada", 30, Color.BLUE))


async def test_given_form_is_sent_unchanged_and_read_as_json() -> None:
    request, got = await exchange(
        lambda ctx: ctx.elicit("which?", CHOICES), {"action": "accept", "content": {"tags": ["a", "b"]}}
    )
    assert (request["params"]["requestedSchema"], got) == (CHOICES, Elicited("accept", {"tags": ["a", "b"]}))


@pytest.mark.parametrize(
    ("question", "field", "answer", "value"),
    [
        (lambda ctx: ctx.elicit("who?", str), {"type": "string"}, "Ada", "Ada"),
        (
            lambda ctx: ctx.elicit(message="sure?", response_type=bool, response_title="Sure"),
            {"type": "boolean", "title": "Sure"},
            True,
            True,
        ),
        (
            lambda ctx: ctx.elicit("which?", ["a", "b"], response_description="One of two"),
            {"type": "string", "enum": ["a", "b"], "description": "One of two"},
            "b",
            "b",
        ),
    ],
)
async def test_one_value_is_asked_for_and_returned(
    question: Question, field: Any, answer: Any, value: Any
) -> None:
    request, got = await exchange(question, {"action": "accept", "content": {"value": answer}})
    assert request["params"]["requestedSchema"] == {
        "type": "object",
        "properties": {"value": field},
        "required": ["value"],
    }
    assert (got.accepted, got.data) == (True, value)


async def test_question_without_a_type_names_the_usage() -> None:
    asker = Asker(lambda ctx: ctx.elicit("sure?"))
    async with ScriptedClient(asker.server, capabilities=EVERYTHING) as client:
        assert "internal error" in await client.text_of("ask")


@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": {"name": 3}}])
async def test_declined_form_has_no_content(action: Any, content: Any) -> None:
    _, got = await exchange(lambda ctx: ctx.elicit("who?", Person), {"action": action, **content})
    assert (got, got.accepted) == (Elicited(action), False)


@pytest.mark.parametrize(
    "answer",
    [
        {"action": "accept"},
        {"action": "accept", "content": {}},
        {"action": "accept", "content": {"name": 3}},
        {"action": "accept", "content": {"name": "Ada", "color": "green"}},
        {"action": "accept", "content": {"name": "Ada", "age": "old"}},
        {"action": "accept", "content": []},
        {"action": "maybe"},
        {},
        None,
    ],
)
async def test_answer_that_violates_the_form_is_an_error(answer: Any) -> None:
    _, text = await exchange(lambda ctx: ctx.elicit("who?", Person), answer)
    assert "the client's answer does not fit the" in text


@pytest.mark.parametrize(
    "answer", [None, [], {}, {"role": "system"}, {**SAMPLED, "content": {"type": "smell"}}]
)
async def test_malformed_sample_is_an_error(answer: Any) -> None:
    _, text = await exchange(lambda ctx: ctx.sample("hi"), answer)
    assert text.startswith("the client's answer does not fit the question")


async def test_url_is_sent_if_revision_and_client_support_it() -> None:
    request, got = await exchange(
        lambda ctx: ctx.elicit_url("pay", "https://example.com/pay"), {"action": "accept"}
    )
    assert request["params"] == {
        "mode": "url",
        "message": "pay",
        "url": "https://example.com/pay",
        "elicitationId": got.id,
    }
    assert (got.action, got.content, len(got.id) >= 16) == ("accept", None, True)


async def test_completion_of_a_url_elicitation_is_announced() -> None:
    server = Server("test")

    @server.tool
    async def tell(ctx: Context) -> None:
        await ctx.elicitation_complete("x")

    async with ScriptedClient(server) as client:
        await client.call("tell")
        (notification,) = client.received_so_far()
        assert (notification["method"], notification["params"]) == (
            "notifications/elicitation/complete",
            {"elicitationId": "x"},
        )


@pytest.mark.parametrize(
    ("revision", "elicitation", "mode"),
    [
        (NEWEST, {}, "url"),
        (NEWEST, {"form": {}}, "url"),
        (NEWEST, {"url": {}}, "form"),
        (STRUCTURED, {"form": {}, "url": {}}, "url"),
        (BATCHING, {}, "form"),
        (FIRST, {"form": {}}, "form"),
    ],
)
async def test_unsupported_mode_is_refused(revision: str, elicitation: Any, mode: str) -> None:
    text = await refusal(
        lambda ctx: ctx.elicit_url("", "a:b") if mode == "url" else ctx.elicit("", Person),
        revision=revision,
        capabilities={"elicitation": elicitation},
    )
    assert text == f"the client does not support elicitation in {mode} mode"


@pytest.mark.parametrize("elicitation", [{}, {"form": {}}])
@pytest.mark.parametrize("revision", [STRUCTURED, NEWEST])
async def test_elicitation_without_modes_means_forms(revision: str, elicitation: Any) -> None:
    asker = Asker(lambda ctx: ctx.elicit("who?", Person))
    async with ScriptedClient(
        asker.server, revision=revision, capabilities={"elicitation": elicitation}
    ) as client:
        task = client.start_call("ask")
        await client.answer(await client.receive(), {"action": "cancel"})
        await finished(task)
    assert asker.answers == [Elicited("cancel")]


async def test_multi_select_is_refused_in_revisions_without_it() -> None:
    text = await refusal(
        lambda ctx: ctx.elicit("which?", CHOICES), revision=STRUCTURED, capabilities={"elicitation": {}}
    )
    assert text == "the client's protocol revision has no multi-select: field tags"


@pytest.mark.parametrize("capability", QUESTIONS)
async def test_error_names_the_undeclared_capability(capability: str) -> None:
    question, _ = QUESTIONS[capability]
    others = {name: value for name, value in EVERYTHING.items() if name != capability}
    assert await refusal(question, capabilities=others) == f"the client does not support {capability}"


@pytest.mark.parametrize("capability", QUESTIONS)
async def test_nothing_is_asked_before_the_client_is_ready(capability: str) -> None:
    question, _ = QUESTIONS[capability]
    client = ScriptedClient(Asker(question).server, capabilities=EVERYTHING)
    await client.initialize()
    text = await client.text_of("ask")
    assert (text, client.received_so_far()) == (
        "the client cannot be asked before it has sent notifications/initialized",
        [],
    )


async def test_ping_may_be_asked_before_the_client_is_ready() -> None:
    client = ScriptedClient(Asker(lambda ctx: ctx.ping()).server)
    await client.initialize()
    task = client.start_call("ask")
    await client.answer(await client.receive(), {})
    assert (await finished(task))["result"] == {"content": []}


async def test_client_without_a_session_cannot_be_asked() -> None:
    result = await call(Asker(lambda ctx: ctx.ping()).server, "ask")
    assert result == {
        "content": [
            {"type": "text", "text": "the client cannot be asked: its request came without a session"}
        ],
        "isError": True,
    }


async def test_error_of_the_client_is_reported() -> None:
    asker = Asker(lambda ctx: ctx.roots())
    async with ScriptedClient(asker.server, capabilities=EVERYTHING) as client:
        task = client.start_call("ask")
        await client.refuse(await client.receive(), -1, "user rejected")
        text = (await finished(task))["result"]["content"][0]["text"]
        assert text == "the client answered with error -1: user rejected"


async def test_question_is_withdrawn_after_its_timeout() -> None:
    asker = Asker(lambda ctx: ctx.roots(timeout=0.001))
    async with ScriptedClient(asker.server, capabilities=EVERYTHING) as client:
        task = client.start_call("ask")
        request, withdrawn = await client.receive(), await client.receive()
        text = (await finished(task))["result"]["content"][0]["text"]
        assert text == "the client did not answer roots/list within 0.001 s"
        assert (withdrawn["method"], withdrawn["params"]["requestId"]) == (
            "notifications/cancelled",
            request["id"],
        )
        # A late answer is valid, and ignored.
        await client.answer(request, {"roots": []})
        assert len(client.session.outgoing_requests) == 0


async def test_cancelled_request_withdraws_its_question() -> None:
    asker = Asker(lambda ctx: ctx.roots())
    async with ScriptedClient(asker.server, capabilities=EVERYTHING) as client:
        task = client.start_call("ask")
        request = await client.receive()
        await client.cancel(2)
        assert await finished(task) is None
        withdrawn = await client.receive()
        assert (
            withdrawn["method"],
            withdrawn["params"]["requestId"],
            len(client.session.outgoing_requests),
        ) == (
            "notifications/cancelled",
            request["id"],
            0,
        )


async def test_concurrent_questions_get_their_own_answers() -> None:
    server = Server("test")

    @server.tool
    async def ask(ctx: Context) -> list[str]:
        both = await asyncio.gather(ctx.sample("a"), ctx.sample("b"))
        return [sampled.text for sampled in both]

    async with ScriptedClient(server, capabilities=EVERYTHING) as client:
        task = client.start_call("ask")
        request = [await client.receive(), await client.receive()]
        for question in reversed(request):
            text = question["params"]["messages"][0]["content"]["text"]
            await client.answer(
                question, {**SAMPLED, "content": {"type": "text", "text": f"answer to {text}"}}
            )
        result = (await finished(task))["result"]
        assert result["structuredContent"] == {"result": ["answer to a", "answer to b"]}


async def test_closing_the_session_ends_open_questions() -> None:
    asker = Asker(lambda ctx: ctx.roots())
    async with ScriptedClient(asker.server, capabilities=EVERYTHING) as client:
        task = client.start_call("ask")
        await client.receive()
    await quiescence()
    async with asyncio.timeout(GUARD):
        assert (await task, asker.answers) == (None, [])
