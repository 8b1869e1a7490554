"""Tools that ask: with what they were given, and with an effect of the answer."""

from typing import Any

from assay.lab.harness.trace.trace import Trace
from tests.lab.everything.observing import broken, held
from tests.lab.traces import request, result, stdio_trace

SAMPLING, ELICITATION = "tools-call-sampling", "tools-call-elicitation"
FORM = {"type": "object", "properties": {"username": {"type": "string"}}}


def says(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def sampled(asked: str, said: str) -> Trace:
    message = {"role": "user", "content": {"type": "text", "text": asked}}
    model = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Blue."}}
    return stdio_trace(
        (">", request(1, "tools/call", name="test_sampling", arguments={"prompt": "Sky?"})),
        ("<", request("q", "sampling/createMessage", messages=[message], maxTokens=1)),
        (">", result("q", **model)),
        ("<", result(1, content=says(said))),
    )


def test_prompt_reaches_the_model_and_its_words_the_result() -> None:
    assert held(SAMPLING, sampled("Sky?", "LLM response: Blue.")) == {SAMPLING}
    assert broken(SAMPLING, sampled("Sea?", "LLM response: Blue.")) == {SAMPLING}
    assert broken(SAMPLING, sampled("Sky?", "LLM response: none")) == {SAMPLING}


def elicited(number: int, action: str, said: str) -> list[tuple[str, Any]]:
    asking = f"q{number}"
    arguments = {"message": "Who?"}
    return [
        (">", request(number, "tools/call", name="test_elicitation", arguments=arguments)),
        ("<", request(asking, "elicitation/create", message="Who?", requestedSchema=FORM)),
        (">", result(asking, action=action)),
        ("<", result(number, content=says(said))),
    ]


def test_what_the_user_answers_makes_a_difference() -> None:
    told = stdio_trace(*elicited(1, "accept", "accepted"), *elicited(2, "decline", "declined"))
    same = stdio_trace(*elicited(1, "accept", "thanks"), *elicited(2, "decline", "thanks"))
    assert held(ELICITATION, told) == {ELICITATION}
    assert broken(ELICITATION, same) == {ELICITATION}
