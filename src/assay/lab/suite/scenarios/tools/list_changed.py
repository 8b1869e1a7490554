"""The server's own tools are called until its lists change; whoever listens hears of it."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import announced_lists, provoke
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_TOOL, Need
from assay.lab.harness.scenario import scenario
from assay.lab.suite.listening import listen
from assay.lab.suite.offering import PROMPTS, TOOLS

ANNOUNCED = Need(
    lambda facts: any(facts.declares(offer.capability, "listChanged") for offer in (TOOLS, PROMPTS)),
    "does not declare that it announces changes of its lists",
)


@scenario(
    "Lists of tools and prompts that change",
    exercises=("tools.list-changed", "prompts.list-changed", "prompts.negotiated"),
    needs=(A_TOOL, ANNOUNCED),
    effects=True,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    wished = [one for one in (TOOLS, PROMPTS) if one.capability in announced_lists(stage.facts)]
    heard = await listen(stage, peer, *(one.wish for one in wished))
    areas = [one.capability for one in wished if one.wish in heard]
    await provoke(peer, stage.facts, areas, [])
