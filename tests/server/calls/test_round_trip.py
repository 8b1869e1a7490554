"""Questions by retry: the client sends its request again with the answers."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest

from assay import AskError, Context, Server
from tests.driving.describing import DescribingClient, accepted, answering, sampled, text_of

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
YES = {"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]}


def question(message: str, schema: dict[str, Any] = NAME) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


async def ask_name(ctx: Context, message: str = "Who?", **options: Any) -> str:
    """The name, or the action if the user did not accept."""
    elicited = await ctx.elicit(message, NAME, **options)
    return elicited.content["name"] if elicited.accepted else elicited.action


def server_of(*tools: Any, **options: Any) -> Server:
    server = Server("test", **options)
    for tool in tools:
        server.tool(tool)
    return server


async def greet(ctx: Context) -> str:
    return f"Hello, {await ask_name(ctx)}"


async def introduce(ctx: Context) -> str:
    first = await ask_name(ctx, "First?")
    second = await ask_name(ctx, f"Second, after {first}?")
    return f"{first} and {second}"


async def test_a_question_ends_the_request_and_its_answer_goes_with_the_next() -> None:
    client = DescribingClient(server_of(greet))
    reply = await client.call("greet")
    state = reply.pop("requestState")
    assert isinstance(state, str)
    assert reply.pop("_meta")
    assert reply == {"resultType": "input_required", "inputRequests": {"question-1": question("Who?")}}
    answered = {"inputResponses": {"question-1": accepted(name="Ada")}, "requestState": state}
    assert text_of(await client.call("greet", answered)) == "Hello, Ada"


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_question_may_be_declined(action: str) -> None:
    client = DescribingClient(server_of(greet))
    answered = answering(await client.call("greet"), question_1={"action": action})
    assert text_of(await client.call("greet", answered)) == f"Hello, {action}"


async def test_every_kind_of_question_can_be_asked() -> None:
    async def ask_all(ctx: Context) -> str:
        sample = await ctx.sample("Say hi", max_tokens=9, key="model")
        roots = await ctx.roots(key="roots")
        visit = await ctx.elicit_url("Pay", "https://pay.example", key="page")
        return f"{sample.text} {[root.uri for root in roots]} {visit.action} {visit.id}"

    client = DescribingClient(server_of(ask_all))
    reply = await client.call("ask_all")
    message = {"role": "user", "content": {"type": "text", "text": "Say hi"}}
    assert reply["inputRequests"] == {
        "model": {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 9}}
    }
    reply = await client.call("ask_all", answering(reply, model=sampled("hi")))
    assert reply["inputRequests"] == {"roots": {"method": "roots/list"}}
    reply = await client.call("ask_all", answering(reply, roots={"roots": [{"uri": "file:///a"}]}))
    page = {"mode": "url", "message": "Pay", "url": "https://pay.example"}
    assert reply["inputRequests"] == {"page": {"method": "elicitation/create", "params": page}}
    answered = answering(reply, page={"action": "accept"})
    assert text_of(await client.call("ask_all", answered)) == "hi ['file:///a'] accept None"


async def test_questions_in_sequence_take_a_round_each() -> None:
    client = DescribingClient(server_of(introduce))
    reply = await client.call("introduce")
    assert reply["inputRequests"] == {"question-1": question("First?")}
    reply = await client.call("introduce", answering(reply, question_1=accepted(name="Ada")))
    assert reply["inputRequests"] == {"question-2": question("Second, after Ada?")}
    answered = answering(reply, question_2=accepted(name="Bob"))
    assert text_of(await client.call("introduce", answered)) == "Ada and Bob"


async def gathered(ctx: Context) -> str:
    return ", ".join(await asyncio.gather(*(ask_name(ctx, f"{n}?") for n in "abc")))


async def grouped(ctx: Context) -> str:
    async with asyncio.TaskGroup() as tasks:
        reply = [tasks.create_task(ask_name(ctx, f"{n}?")) for n in "abc"]
    return ", ".join(task.result() for task in reply)


async def nested(ctx: Context) -> str:
    async def pair() -> list[str]:
        return await asyncio.gather(ask_name(ctx, "b?"), ask_name(ctx, "c?"))

    first, others = await asyncio.gather(ask_name(ctx, "a?"), pair())
    return ", ".join([first, *others])


@pytest.mark.parametrize("tool", [gathered, grouped, nested])
async def test_concurrent_questions_are_asked_together(tool: Any) -> None:
    client = DescribingClient(server_of(tool))
    reply = await client.call(tool.__name__)
    assert reply["inputRequests"] == {
        "question-1": question("a?"),
        "question-2": question("b?"),
        "question-3": question("c?"),
    }
    answers = {f"question_{n}": accepted(name=name) for n, name in ((1, "Ada"), (2, "Bob"), (3, "Cid"))}
    assert text_of(await client.call(tool.__name__, answering(reply, **answers))) == "Ada, Bob, Cid"


@pytest.mark.parametrize("tool", [gathered, grouped])
async def test_unanswered_question_is_asked_again_under_its_key(tool: Any) -> None:
    client = DescribingClient(server_of(tool))
    reply = await client.call(tool.__name__)
    reply = await client.call(tool.__name__, answering(reply, question_2=accepted(name="Bob")))
    assert reply["inputRequests"] == {"question-1": question("a?"), "question-3": question("c?")}
    answered = answering(reply, question_1=accepted(name="Ada"), question_3=accepted(name="Cid"))
    assert text_of(await client.call(tool.__name__, answered)) == "Ada, Bob, Cid"


async def test_concurrent_sequences_keep_their_own_answers() -> None:
    """Once its first question is answered, one sequence runs ahead of the other."""

    async def sequence(ctx: Context, *names: str) -> str:
        return "+".join([await ask_name(ctx, f"{name}?") for name in names])

    async def both(ctx: Context) -> str:
        return ", ".join(await asyncio.gather(sequence(ctx, "a1", "a2"), sequence(ctx, "b1")))

    client = DescribingClient(server_of(both))
    reply = await client.call("both")
    assert reply["inputRequests"] == {"question-1": question("a1?"), "question-2": question("b1?")}
    answered = answering(reply, question_1=accepted(name="A"), question_2=accepted(name="B"))
    reply = await client.call("both", answered)
    assert reply["inputRequests"] == {"question-3": question("a2?")}
    assert text_of(await client.call("both", answering(reply, question_3=accepted(name="C")))) == "A+C, B"


async def test_the_same_question_twice_gets_two_answers_in_order() -> None:
    async def twice(ctx: Context) -> str:
        return f"{await ask_name(ctx)}, then {await ask_name(ctx)}"

    client = DescribingClient(server_of(twice))
    reply = await client.call("twice")
    reply = await client.call("twice", answering(reply, question_1=accepted(name="Ada")))
    assert reply["inputRequests"] == {"question-2": question("Who?")}
    assert text_of(await client.call("twice", answering(reply, question_2=accepted(name="Bob")))) == (
        "Ada, then Bob"
    )


async def test_a_question_that_comes_too_late_ends_with_the_others() -> None:
    """Its task must not wait forever: the question is not answered in this round."""
    released = asyncio.Event()
    ended: list[BaseException] = []

    async def late(ctx: Context) -> str:
        try:
            await released.wait()
            return await ask_name(ctx, "late?")
        except BaseException as error:
            ended.append(error)
            raise

    async def both(ctx: Context) -> str:
        names = await asyncio.gather(ask_name(ctx, "early?"), late(ctx))
        return ", ".join(names)

    client = DescribingClient(server_of(both))
    reply = await client.call("both")
    assert reply["inputRequests"] == {"question-1": question("early?")}
    released.set()
    reply = await client.call("both", answering(reply, question_1=accepted(name="Ada")))
    assert reply["inputRequests"] == {"question-2": question("late?")}
    assert len(ended) == 2
    assert text_of(await client.call("both", answering(reply, question_2=accepted(name="Bob")))) == "Ada, Bob"


async def test_def_handlers_ask_too() -> None:
    def in_thread(ctx: Context) -> str:
        first = ctx.wait(ask_name(ctx, "First?"))
        return f"{first} and {ctx.wait(ask_name(ctx, 'Second?'))}"

    client = DescribingClient(server_of(in_thread))
    reply = await client.call("in_thread")
    reply = await client.call("in_thread", answering(reply, question_1=accepted(name="Ada")))
    answered = answering(reply, question_2=accepted(name="Bob"))
    assert text_of(await client.call("in_thread", answered)) == "Ada and Bob"


async def test_a_handler_that_catches_exceptions_does_not_catch_its_question() -> None:
    async def careful(ctx: Context) -> str:
        try:
            return await ask_name(ctx)
        except Exception:
            return "caught"

    client = DescribingClient(server_of(careful))
    assert (await client.call("careful"))["resultType"] == "input_required"


async def test_prompts_and_resources_ask_like_tools() -> None:
    server = Server("test")

    @server.prompt
    async def welcome(tone: str, ctx: Context) -> str:
        return f"{tone} welcome to {await ask_name(ctx)}"

    @server.resource("notes://{topic}")
    async def note(topic: str, ctx: Context) -> str:
        return f"{topic} by {await ask_name(ctx)}"

    client = DescribingClient(server)
    prompt = {"name": "welcome", "arguments": {"tone": "warm"}}
    reply = await client.result("prompts/get", prompt)
    assert reply["inputRequests"] == {"question-1": question("Who?")}
    result = await client.result("prompts/get", prompt | answering(reply, question_1=accepted(name="Ada")))
    assert [message["content"]["text"] for message in result["messages"]] == ["warm welcome to Ada"]
    read = {"uri": "notes://tea"}
    reply = await client.result("resources/read", read)
    assert sorted(reply) == ["_meta", "inputRequests", "requestState", "resultType"]
    result = await client.result("resources/read", read | answering(reply, question_1=accepted(name="Ada")))
    assert result["contents"][0]["text"] == "tea by Ada"


async def test_completions_cannot_ask() -> None:
    server = Server("test")

    @server.prompt
    async def welcome(name: str) -> str:
        raise AssertionError("not reached")

    @server.completion("welcome", "name")
    async def names(ctx: Context) -> list[str]:
        return [await ask_name(ctx)]

    params = {"ref": {"type": "ref/prompt", "name": "welcome"}, "argument": {"name": "name", "value": ""}}
    text = "the client cannot be asked here: only tools, prompts and resources can"
    assert await DescribingClient(server).error("completion/complete", params) == {
        "code": -32603,
        "message": text,
    }


@pytest.mark.parametrize(
    "answer",
    [
        12345,
        None,
        "Ada",
        [],
        {},
        {"action": "maybe"},
        {"action": "accept"},
        accepted(),
        accepted(name=5),
        {"action": "accept", "content": "Ada"},
    ],
)
async def test_invalid_answer_is_asked_for_again(answer: Any) -> None:
    """MR-20, MR-23."""
    client = DescribingClient(server_of(greet))
    reply = await client.call("greet", answering(await client.call("greet"), question_1=answer))
    assert reply["inputRequests"] == {"question-1": question("Who?")}
    assert text_of(await client.call("greet", answering(reply, question_1=accepted(name="Ada")))) == (
        "Hello, Ada"
    )


async def test_unexpected_answers_are_ignored() -> None:
    """MR-22: they are not stored for a later question either."""
    client = DescribingClient(server_of(introduce))
    reply = await client.call("introduce")
    extra = {"question_2": accepted(name="Eve"), "else": 5, "": None}
    reply = await client.call("introduce", answering(reply, question_1=accepted(name="Ada"), **extra))
    assert reply["inputRequests"] == {"question-2": question("Second, after Ada?")}


async def test_answer_without_a_state_is_matched_by_its_key() -> None:
    """The official suite sends one (sep-2322-ignore-unexpected-params)."""
    client = DescribingClient(server_of(greet))
    answered = {"inputResponses": {"question-1": accepted(name="Ada"), "unknown": {"x": 1}}}
    assert text_of(await client.call("greet", answered)) == "Hello, Ada"


async def test_a_state_without_answers_asks_again() -> None:
    client = DescribingClient(server_of(greet))
    reply = await client.call("greet")
    again = await client.call("greet", {"requestState": reply["requestState"]})
    assert again["inputRequests"] == reply["inputRequests"]


@pytest.mark.parametrize("responses", [None, [], "x", 5, True])
async def test_invalid_responses_are_refused(responses: Any) -> None:
    """MR-21."""
    client = DescribingClient(server_of(greet))
    reply = await client.call("greet")
    for state in ({}, {"requestState": reply["requestState"]}):
        error = await client.error("tools/call", {"name": "greet", "inputResponses": responses, **state})
        assert (error["code"], error["message"][:24]) == (-32602, "invalid inputResponses: ")


async def test_changed_question_is_an_internal_error() -> None:
    numbers = count(1)

    async def fickle(ctx: Context) -> str:
        return await ask_name(ctx, f"Attempt {next(numbers)}?")

    client = DescribingClient(server_of(fickle))
    answered = answering(await client.call("fickle"), question_1=accepted(name="Ada"))
    error = await client.error("tools/call", {"name": "fickle", "arguments": {}, **answered})
    assert (error["code"], "asked something else" in error["message"]) == (-32603, True)
    assert "question-1" in error["message"]


async def test_changed_question_with_a_key_is_an_internal_error() -> None:
    numbers = count(1)

    async def fickle(ctx: Context) -> str:
        return await ask_name(ctx, f"Attempt {next(numbers)}?", key="attempt")

    client = DescribingClient(server_of(fickle))
    answered = answering(await client.call("fickle"), attempt=accepted(name="Ada"))
    error = await client.error("tools/call", {"name": "fickle", "arguments": {}, **answered})
    assert (error["code"], "'attempt'" in error["message"]) == (-32603, True)


async def test_two_questions_under_one_key_are_refused() -> None:
    async def twins(ctx: Context) -> str:
        return str(await asyncio.gather(ask_name(ctx, "a?", key="x"), ask_name(ctx, "b?", key="x")))

    error = await DescribingClient(server_of(twins)).error("tools/call", {"name": "twins"})
    assert error == {"code": -32603, "message": "two questions under one key: 'x'"}


@pytest.mark.parametrize("outcome", [None, 0, "text", {"id": [1, 2.5, None]}])
async def test_once_runs_in_one_round_only(outcome: Any) -> None:
    done: list[int] = []
    captured: list[Any] = []

    async def order(ctx: Context) -> str:
        async def place() -> Any:
            done.append(1)
            return outcome

        captured.append(await ctx.once("order", place))
        await ask_name(ctx, "First?")
        captured.append(await ctx.once("second", lambda: done.append(2)))
        return await ask_name(ctx, "Second?")

    client = DescribingClient(server_of(order))
    reply = await client.call("order")
    reply = await client.call("order", answering(reply, question_1=accepted(name="Ada")))
    assert text_of(await client.call("order", answering(reply, question_2=accepted(name="Bob")))) == "Bob"
    assert done == [1, 2]
    assert captured == [outcome, outcome, None, outcome, None]


@pytest.mark.parametrize("offered", [{}, {"sampling": {}}, {"roots": {}}])
async def test_a_client_is_only_asked_what_it_declared(offered: dict[str, Any]) -> None:
    """MR-06, META-10."""
    error = await DescribingClient(server_of(greet), capabilities=offered).error(
        "tools/call", {"name": "greet"}
    )
    assert error == {
        "code": -32021,
        "message": "the client does not support elicitation",
        "data": {"requiredCapabilities": {"elicitation": {}}},
    }


async def test_error_names_the_full_capability() -> None:
    async def visit(ctx: Context) -> str:
        return (await ctx.elicit_url("Pay", "https://pay.example")).action

    async def reason(ctx: Context) -> str:
        return (await ctx.sample("x", tools=[])).text

    client = DescribingClient(server_of(visit, reason), capabilities={"elicitation": {}, "sampling": {}})
    needed = [(await client.error("tools/call", {"name": name}))["data"] for name in ("visit", "reason")]
    assert needed == [
        {"requiredCapabilities": {"elicitation": {"url": {}}}},
        {"requiredCapabilities": {"sampling": {"tools": {}}}},
    ]


async def test_a_handler_can_do_without_the_answer() -> None:
    """As in the handshake revisions, it gets an AskError."""

    async def flexible(ctx: Context) -> str:
        try:
            return await ask_name(ctx)
        except AskError as error:
            return f"nothing: {error}"

    text = await DescribingClient(server_of(flexible), capabilities={}).call("flexible")
    assert text_of(text) == "nothing: the client does not support elicitation"
