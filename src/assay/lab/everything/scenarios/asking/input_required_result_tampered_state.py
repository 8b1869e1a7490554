"""State that comes back as it was given, longer, with another letter, and with more in it."""

from __future__ import annotations

from assay.lab.everything.answering import able, call, call_again, wants_input
from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_tool
from assay.lab.everything.input_round import asking_tool
from assay.lab.harness.driver.stage import Stage
from assay.lab.suite.forging import forgeries

TOOL = asking_tool("tampered_state")


@official_scenario(
    "input-required-result-tampered-state",
    "State that comes back changed",
    needs=(fixture_tool(TOOL),),
)
async def drive(stage: Stage) -> None:
    peer = await able(stage, {"ok": True})
    asked = await call(peer, TOOL)
    if not wants_input(asked):
        return
    await call_again(peer, TOOL, asked)
    # State may be good for one use: each attempt is made with some of its own.
    for forgery in range(len(_forged(asked.result.get("requestState")))):
        asked = await call(peer, TOOL)
        forged = _forged(asked.result.get("requestState"))[forgery:][:1]
        for state in forged:
            await call_again(peer, TOOL, asked, requestState=state)


def _forged(state: object) -> list[str]:
    return [f"{state}-TAMPERED", *forgeries(state)] if isinstance(state, str) and state else []
