"""Sampling: the conversations that a server sends to a client's model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from assay.lab.harness import FaultContext, Json, Observation, Trace, check, observe
from assay.lab.harness.driver.question import SAMPLE, Question, questions

from .question import edited_questions, on_question

# --- how it is judged


@check(
    "Sampling requests hold a valid conversation",
    requirements=("SMP-05", "SMP-06", "SMP-07", "SMP-08"),
    everywhere=True,
)
def judge_sampling(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, SAMPLE):
        context = question.params.get("includeContext", "none")
        expected = "`includeContext` absent or none; other values are deprecated"
        yield observe("SMP-05", context == "none", question, expected=expected, observed=repr(context))
        messages = question.params.get("messages")
        if isinstance(messages, list):
            yield from _judge_messages(messages, question)


def _judge_messages(messages: list[Any], question: Question) -> Iterator[Observation]:
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        valid = role in ("user", "assistant") and "content" in message
        expected = "role user or assistant, and content"
        yield observe("SMP-08", valid, question, expected=expected, observed=str(message)[:120])
        kinds = {block.get("type") for block in _blocks(message)}
        if role == "user" and "tool_result" in kinds:
            expected = "only tool results in a message that has any"
            observed = ", ".join(sorted(map(str, kinds)))
            yield observe("SMP-06", kinds == {"tool_result"}, question, expected=expected, observed=observed)
    for message, following in pairwise([*messages, None]):
        used = _ids(message, "tool_use", "id")
        if used:
            answered = _ids(following, "tool_result", "toolUseId")
            expected = "a result for every tool use in the next message, and for no other"
            observed = f"{len(used)} uses, {len(used & answered)} of them with a result"
            yield observe("SMP-07", used == answered, question, expected=expected, observed=observed)


def _ids(message: Any, kind: str, key: str) -> set[str]:
    return {str(block.get(key)) for block in _blocks(message) if block.get("type") == kind}


def _blocks(message: Any) -> list[dict[str, Any]]:
    """The content blocks of a message, which holds one block or a list."""
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else [content]
    return [block for block in blocks if isinstance(block, dict)]


# --- what the checks must catch


USE: Final = {
    "role": "assistant",
    "content": {"type": "tool_use", "id": "use-7", "name": "look_up", "input": {}},
}


def _results(use_id: str, *blocks: Json) -> Json:
    return {"role": "user", "content": [{"type": "tool_result", "toolUseId": use_id, "content": []}, *blocks]}


@on_question(SAMPLE, "sends a message with a tool result and text", breaks="SMP-06")
def result_with_remarks(params: Json, context: FaultContext) -> None:
    params["messages"] += [USE, _results("use-7", {"type": "text", "text": "I hope this helps."})]


@on_question(SAMPLE, "sends a tool result that names another use", breaks="SMP-07")
def result_of_another_use(params: Json, context: FaultContext) -> None:
    params["messages"] += [USE, _results("1")]


@on_question(SAMPLE, "sends a tool use without its result", breaks="SMP-07")
def use_forgotten(params: Json, context: FaultContext) -> None:
    params["messages"] = [USE, *params["messages"]]


@on_question(SAMPLE, "sends a sampling message with role system", breaks="SMP-08")
def model_gets_a_system(params: Json, context: FaultContext) -> None:
    params["messages"][0]["role"] = "system"


QUESTION_EDITS: Final = edited_questions(
    SAMPLE,
    (
        "asking.wants-all-context",
        "asks for the context of all servers",
        "SMP-05",
        "includeContext",
        "allServers",
    ),
)
