"""A client that can be asked anything calls the tools that speak of asking, whatever else they do."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.suite.interview import ANOTHER_ASKING_TOOL, EVERYTHING, Interviewee, effective


@scenario(
    "Questions of other tools",
    exercises=(
        "asking.declared-only",
        "asking.elicitation",
        "asking.url-mode",
        "asking.completion-notice",
        "asking.sampling",
        "asking.misfit",
        "asking.refusal",
    ),
    needs=(ANOTHER_ASKING_TOOL,),
    effects=True,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open(**EVERYTHING)
    interviewee = Interviewee(peer)
    for ask in effective(peer, stage.facts):
        await interviewee.sit_through(ask)
