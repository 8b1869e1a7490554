"""A client that can be asked anything tries every prompt, and every tool that only reads."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_PROMPT, A_READ_ONLY_TOOL, either
from assay.lab.harness.scenario import scenario
from assay.lab.suite.interview import EVERYTHING, Interviewee, harmless


@scenario(
    "Questions of prompts and of tools that only read",
    exercises=(
        "asking.declared-only",
        "asking.elicitation",
        "asking.url-mode",
        "asking.completion-notice",
        "asking.sampling",
        "asking.misfit",
        "asking.refusal",
    ),
    needs=(either(A_READ_ONLY_TOOL, A_PROMPT),),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open(**EVERYTHING)
    interviewee = Interviewee(peer)
    for ask in harmless(peer, stage.facts):
        await interviewee.sit_through(ask)
