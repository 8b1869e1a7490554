"""Tasks that need something of their client: one thing, and two at once."""

from __future__ import annotations

from typing import Any

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.extension import HAS_TASKS
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.tasking import ask, begin, call, follow, task_of, wanted_keys, wants_input
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage


@official_scenario(
    "tasks-mrtr-input",
    "Tasks ask for input and go on with it",
    needs=(HAS_TASKS, fixture_tool("confirm_delete"), fixture_tool("multi_input")),
)
async def drive(stage: Stage) -> None:
    peer = await begin(stage, elicitation={})
    confirm = task_of(await call(peer, "confirm_delete", filename="old.txt"))
    several = task_of(await call(peer, "multi_input"))
    if confirm is not None:
        await _answer_one(peer, confirm)
    if several is not None:
        await _answer_in_turn(peer, several)


async def _answer_one(peer: Peer, task: str) -> None:
    asked = await follow(peer, task, wants_input)
    keys = wanted_keys(asked.result)
    if keys:
        await _answer(peer, task, keys[0], confirm=True)
        await follow(peer, task)


async def _answer_in_turn(peer: Peer, task: str) -> None:
    asked = await follow(peer, task, lambda seen: len(wanted_keys(seen)) > 1)
    keys = wanted_keys(asked.result)
    if len(keys) > 1:
        await _answer(peer, task, keys[0], name="Alice", confirm=True)
        await follow(peer, task, lambda seen: keys[0] not in wanted_keys(seen))
        await _answer(peer, task, keys[1], name="Alice", confirm=True)
        await follow(peer, task)


async def _answer(peer: Peer, task: str, key: str, **content: Any) -> None:
    accepted = {"action": "accept", "content": content}
    await ask(peer, "tasks/update", task, inputResponses={key: accepted})
