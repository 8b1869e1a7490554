"""Sampling: the answers of the client's model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.altered_message import changed_answer
from assay.lab.client.declaration import client_scenario
from assay.lab.client.question import MODEL, Question, questions
from assay.lab.harness import Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, on_message
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


def _answers(name: str, fault: str, breaks: str, scenario: str, content: object) -> ClientSaboteur:
    """A client whose model answers with this content."""
    return on_message(fault, id=f"asking.{name}", breaks=breaks, scenario=f"asking.{scenario}")(
        lambda message, client: changed_answer(message, lambda answer: {**answer, "content": content})
    )


LONG, SHORT = ({"type": "text", "text": text} for text in ("on and " * 9000, "no"))
TOOL_USE: Final = [{"type": "tool_use", "id": "1", "name": "dice", "input": {}}]
ANSWERS: Final = (
    _answers("model-talks-on", "the model exceeds `maxTokens`", "SMP-10", "sampling", LONG),
    _answers("model-uses-no-tool", "the model uses no required tool", "SMP-20", "sampling-tools", SHORT),
    _answers("model-uses-tool", "the model uses a forbidden tool", "SMP-20", "sampling-tools", TOOL_USE),
)
