"""Sampling: what a client's model answers."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.altered_message import changed_answer
from assay.lab.client.declaration import client_scenario
from assay.lab.client.question import MODEL, Question, questions
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call_tool
from assay.lab.harness.scripted_server.stage import ClientStage

from .asking_tool import a_prompt, add_asking

# --- what is asked


@client_scenario(
    "A model is asked, and keeps to the length",
    brief=Brief(
        steps=(LIST_TOOLS, call_tool("asking")),
        capabilities=("sampling",),
        answers={"sampling": {"text": "hello"}},
    ),
    exercises=("asking.declared", "asking.model"),
)
async def drive_sampling(stage: ClientStage) -> None:
    add_asking(stage.host, "asking", a_prompt())


@client_scenario(
    "A model uses tools as it is told to",
    brief=Brief(
        steps=(LIST_TOOLS, call_tool("without"), call_tool("with")),
        capabilities=("sampling", "sampling.tools"),
        answers={"sampling": {"text": "hello"}},
    ),
    exercises=("asking.declared", "asking.model"),
    window=lambda revision: revision.sampling_tools,
)
async def drive_sampling_tools(stage: ClientStage) -> None:
    tools = [{"name": "dice", "description": "Throw a die", "inputSchema": {"type": "object"}}]
    add_asking(stage.host, "without", a_prompt(tools=tools, toolChoice={"mode": "none"}))
    add_asking(stage.host, "with", a_prompt(tools=tools, toolChoice={"mode": "required"}))


# --- how it is judged


LENGTH, CHOICE = "SMP-10", "SMP-20"
LONGEST = 200
"""Characters: no tokenizer makes tokens as long as that of words."""


@check(
    "A model keeps to its length and to the choice of tools", requirements=(LENGTH, CHOICE), everywhere=True
)
def judge_model(trace: Trace) -> Iterator[Observation]:
    for one in questions(trace, MODEL):
        if one.result is not None:
            yield from _length(one)
            yield from _choice(one)


def _length(one: Question) -> Iterator[Observation]:
    most = one.params.get("maxTokens")
    texts = [block["text"] for block in one.content if isinstance(block.get("text"), str)]
    if isinstance(most, int) and texts:
        length = sum(map(len, texts))
        expected, observed = f"at most {most} tokens", f"{length} characters"
        yield observe(LENGTH, length <= most * LONGEST, one, expected=expected, observed=observed)


def _choice(one: Question) -> Iterator[Observation]:
    choice = one.params.get("toolChoice")
    mode = choice.get("mode") if isinstance(choice, dict) else None
    used = [block.get("name") for block in one.tool_uses]
    if mode == "required":
        yield observe(CHOICE, bool(used), one, expected="the use of a tool", observed="none")
    elif mode == "none":
        yield observe(CHOICE, not used, one, expected="no use of a tool", observed=f"{used}")


# --- what the checks must catch


@on_message("a model says more than it may", breaks="SMP-10", scenario="asking.sampling")
def model_talks_on(message: Json, client: ScriptedClient) -> Json:
    return changed_answer(
        message, lambda said: {**said, "content": {"type": "text", "text": "on and " * 9000}}
    )


@on_message("a model uses no tool although it must", breaks="SMP-20", scenario="asking.sampling-tools")
def model_uses_no_tool(message: Json, client: ScriptedClient) -> Json:
    return changed_answer(message, lambda said: {**said, "content": {"type": "text", "text": "no"}})


@on_message("a model uses a tool although it must not", breaks="SMP-20", scenario="asking.sampling-tools")
def model_uses_tool(message: Json, client: ScriptedClient) -> Json:
    used = {"type": "tool_use", "id": "1", "name": "dice", "input": {}}
    return changed_answer(message, lambda said: {**said, "content": [used]})
