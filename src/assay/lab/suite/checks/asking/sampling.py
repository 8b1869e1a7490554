"""What a model is asked is a conversation that could have been: speakers, and tools whose use is answered."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import SAMPLE, Question, questions
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Sampling requests hold a sound conversation", rows=("SMP-05", "SMP-06", "SMP-07", "SMP-08"))
def judge(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, SAMPLE):
        context = question.params.get("includeContext", "none")
        expected = "no context of servers: it is on its way out of the protocol"
        yield observe("SMP-05", context == "none", question, expected=expected, observed=repr(context))
        messages = question.params.get("messages")
        if isinstance(messages, list):
            yield from _messages(messages, question)


def _messages(messages: list[Any], question: Question) -> Iterator[Observation]:
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        sound = role in ("user", "assistant") and "content" in message
        expected = "role user or assistant, and content"
        yield observe("SMP-08", sound, question, expected=expected, observed=str(message)[:120])
        kinds = {block.get("type") for block in _blocks(message)}
        if role == "user" and "tool_result" in kinds:
            expected = "nothing else in a message with tool results"
            observed = ", ".join(sorted(map(str, kinds)))
            yield observe("SMP-06", kinds == {"tool_result"}, question, expected=expected, observed=observed)
    yield from _uses([*messages, None], question)


def _uses(messages: list[Any], question: Question) -> Iterator[Observation]:
    for message, following in pairwise(messages):
        used = _ids(message, "tool_use", "id")
        if used:
            answered = _ids(following, "tool_result", "toolUseId")
            yield observe(
                "SMP-07",
                used == answered,
                question,
                expected="the next message to answer every use of a tool, and nothing else",
                observed=f"{len(used)} uses, {len(used & answered)} of them answered",
            )


def _ids(message: Any, kind: str, key: str) -> set[str]:
    return {str(block.get(key)) for block in _blocks(message) if block.get("type") == kind}


def _blocks(message: Any) -> list[dict[str, Any]]:
    """The content of a message is one block or several."""
    content = message.get("content") if isinstance(message, dict) else None
    several = content if isinstance(content, list) else [content]
    return [block for block in several if isinstance(block, dict)]
