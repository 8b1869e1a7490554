"""Sampling: what a server asks a client's model for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from assay.lab.harness import FaultContext, Json, Observation, Trace, check, observe, on_reply
from assay.lab.harness.driver.question import SAMPLE, Question, asked_in, questions

# --- how it is judged


@check("Sampling requests hold a sound conversation", requirements=("SMP-05", "SMP-06", "SMP-07", "SMP-08"))
def judge_sampling(trace: Trace) -> Iterator[Observation]:
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


# --- what the checks must catch


@on_reply("sampling requests want the context of all servers", breaks="SMP-05")
def wants_all_context(reply: Json, turn: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        params["includeContext"] = "allServers"
    return reply


@on_reply("a message mixes a tool result with text", breaks="SMP-06")
def result_with_remarks(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        use = {"type": "tool_use", "id": "use-7", "name": "look_up", "input": {}}
        result = {"type": "tool_result", "toolUseId": "use-7", "content": []}
        remark = {"type": "text", "text": "I hope this helps."}
        params["messages"] += [
            {"role": "assistant", "content": use},
            {"role": "user", "content": [result, remark]},
        ]
    return reply


@on_reply("a tool result names another use than the one before it", breaks="SMP-07")
def result_of_another_use(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        use = {"type": "tool_use", "id": "use-7", "name": "look_up", "input": {}}
        result = {"type": "tool_result", "toolUseId": "1", "content": []}
        params["messages"] += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return reply


@on_reply("a tool use is followed by something else than its result", breaks="SMP-07")
def use_forgotten(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        use = {"type": "tool_use", "id": "use-7", "name": "look_up", "input": {}}
        params["messages"] = [{"role": "assistant", "content": use}, *params["messages"]]
    return reply


@on_reply("a sampling message has role system", breaks="SMP-08")
def model_gets_a_system(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        params["messages"][0]["role"] = "system"
    return reply
