"""Scripted answers, used directly."""

import pytest

from assay import Client, Context, Elicited, Server
from assay.testing import Answers

server = Server("asking")


@server.tool
async def ask(ctx: Context, question: str) -> str:
    reply = await ctx.elicit(question, {"type": "object", "properties": {"x": {"type": "integer"}}})
    return f"{reply.action} {reply.content}"


async def answers_to(answers: Answers, count: int) -> list[str]:
    async with server, Client(server, **answers.handlers()) as client:
        return [(await client.call("ask", question=f"{number}?")).text for number in range(count)]


async def test_answers_come_in_order_and_the_last_repeats() -> None:
    answers = Answers()
    answers.elicit({"x": 1}, Elicited("cancel"))
    answers.elicit(lambda request: {"x": len(request.message)}, repeat=True)
    texts = await answers_to(answers, 4)
    assert texts == ["accept {'x': 1}", "cancel None", "accept {'x': 2}", "accept {'x': 2}"]
    answers.check()


async def test_a_scripted_exception_is_raised() -> None:
    answers = Answers()
    answers.elicit(RuntimeError("the user left"))
    with pytest.raises(RuntimeError, match="the user left"):
        await answers_to(answers, 1)
    answers.check()


async def test_a_question_without_an_answer_is_named() -> None:
    answers = Answers()
    with pytest.raises(AssertionError, match=r"the server asked '0\?': script an answer with answers.elicit"):
        await answers_to(answers, 1)
    with pytest.raises(AssertionError, match="script an answer"):
        answers.check()


def test_an_answer_that_no_client_could_give_is_refused_at_once() -> None:
    answers = Answers()
    with pytest.raises(TypeError, match="Mapping or Elicited or None, an exception, or a function"):
        answers.elicit("yes")
    with pytest.raises(TypeError, match=r"sample\(\) takes at least one answer: str or Sampled"):
        answers.sample()
    answers.check()
