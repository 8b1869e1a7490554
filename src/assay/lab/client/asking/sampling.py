"""Sampling: the answers of the client's model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.altered_message import changed_answer
from assay.lab.client.declaration import client_scenario
from assay.lab.client.question import MODEL, Question, questions
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.stage import ClientStage

from .asking_tool import DICE, a_prompt, add_asking_tool, call_asking_tool

# --- what is asked


@client_scenario(
    "Ask the model for a short answer",
    script=call_asking_tool("sampling", sampling={"text": "hello"}),
    exercises=("asking.declared", "asking.model"),
)
async def drive_sampling(stage: ClientStage) -> None:
    add_asking_tool(stage.server, a_prompt())


@client_scenario(
    "Ask the model with tools forbidden, then required",
    script=ClientScript(
        steps=(LIST_TOOLS, call_tool("without"), call_tool("with")),
        capabilities=("sampling", "sampling.tools"),
        answers={"sampling": {"text": "hello"}},
    ),
    exercises=("asking.declared", "asking.model"),
    window=lambda revision: revision.sampling_tools,
)
async def drive_sampling_tools(stage: ClientStage) -> None:
    add_asking_tool(stage.server, a_prompt(tools=[DICE], toolChoice={"mode": "none"}), name="without")
    add_asking_tool(stage.server, a_prompt(tools=[DICE], toolChoice={"mode": "required"}), name="with")


# --- how it is judged


LONGEST_TOKEN: Final = 200
"""Characters; no tokenizer makes tokens of words as long as that."""


@check(
    "A model respects `maxTokens` and `toolChoice`",
    requirements={
        "SMP-10": "The model's answer is longer than `maxTokens`",
        "SMP-20": "The model did not respect `toolChoice`",
    },
    everywhere=True,
)
def judge_model(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, MODEL):
        if question.result is not None:
            yield from _judge_length(question)
            yield from _judge_choice(question)


def _judge_length(question: Question) -> Iterator[Observation]:
    limit = question.params.get("maxTokens")
    texts = [block["text"] for block in question.content if isinstance(block.get("text"), str)]
    if isinstance(limit, int) and texts:
        length = sum(map(len, texts))
        expected, observed = f"at most {limit} tokens", f"{length} characters"
        holds = length <= limit * LONGEST_TOKEN
        yield observe("SMP-10", holds, question, expected=expected, observed=observed)


def _judge_choice(question: Question) -> Iterator[Observation]:
    choice = question.params.get("toolChoice")
    mode = choice.get("mode") if isinstance(choice, dict) else None
    used = [block.get("name") for block in question.tool_uses]
    if mode == "required":
        yield observe("SMP-20", bool(used), question, expected="the use of a tool", observed="none")
    elif mode == "none":
        yield observe("SMP-20", not used, question, expected="no use of a tool", observed=f"{used}")


# --- what the checks must catch


def _content(message: Json, content: object) -> Json:
    return changed_answer(message, lambda answer: {**answer, "content": content})


@on_message("the model exceeds `maxTokens`", breaks="SMP-10", scenario="asking.sampling")
def model_talks_on(message: Json, client: ScriptedClient) -> Json:
    return _content(message, {"type": "text", "text": "on and " * 9000})


@on_message("the model uses no tool although it must", breaks="SMP-20", scenario="asking.sampling-tools")
def model_uses_no_tool(message: Json, client: ScriptedClient) -> Json:
    return _content(message, {"type": "text", "text": "no"})


@on_message("the model uses a tool although it must not", breaks="SMP-20", scenario="asking.sampling-tools")
def model_uses_tool(message: Json, client: ScriptedClient) -> Json:
    return _content(message, [{"type": "tool_use", "id": "1", "name": "dice", "input": {}}])
