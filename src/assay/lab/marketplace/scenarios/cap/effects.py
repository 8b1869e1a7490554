"""Tools that may change something are called, and the disk is looked at around each call."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.facts import Facts, hints
from assay.lab.marketplace.cap_calling import MOST, call_watched, undisturbed
from assay.lab.marketplace.declaring import BOTH


def _changing(facts: Facts) -> list[dict[str, object]]:
    found = [tool for tool in facts.tools if hints(tool).get("readOnlyHint") is not True]
    return [tool for tool in found if isinstance(tool.get("name"), str)][:MOST]


A_CHANGING_TOOL = Need(lambda facts: bool(_changing(facts)), "has no tool that may change anything")


@scenario(
    "Tools that change something, and what they say of it",
    exercises=("cap.effects", "cap.disk"),
    needs=(A_CHANGING_TOOL,),
    transports=BOTH,
    effects=True,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    async with undisturbed(stage):
        for tool in _changing(stage.facts):
            await call_watched(stage, peer, tool)
