"""The host answers with a version that nobody speaks."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.answered_version import answer_version
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage

NOBODYS = "1900-01-01"


@client_scenario(
    "A client leaves a server whose version it cannot speak",
    brief=Brief(steps=(LIST_TOOLS, call("work")), may_fail=True),
    exercises=("lifecycle.unknown-version",),
)
async def drive(stage: ClientStage) -> None:
    answer_version(stage, lambda turn: NOBODYS)
