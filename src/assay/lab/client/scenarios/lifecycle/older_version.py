"""The host answers with the version before: who speaks it goes on in it."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.answered_version import answer_version
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.registry import HANDSHAKE


@client_scenario(
    "An older version is agreed on, and kept to",
    brief=Brief(steps=(LIST_TOOLS, call("work")), may_fail=True),
    exercises=("lifecycle.opening", "lifecycle.agreed-version", "http.agreed-version"),
    window=lambda revision: revision in HANDSHAKE[1:],
)
async def drive(stage: ClientStage) -> None:
    older = HANDSHAKE[HANDSHAKE.index(stage.revision) - 1]
    answer_version(stage, lambda turn: older.date)
