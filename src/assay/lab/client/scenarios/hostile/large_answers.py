"""Answers that are larger, and deeper, than any client needs."""

from __future__ import annotations

from assay.lab.client.checks.hostile.large_answers import DEEP, LARGE
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.client.fixtures.hostility import answer_to, trying
from assay.lab.harness.scripted_server.answer import Answer, Raw
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

BYTES = 4 * 1024 * 1024
DEPTH = 100_000


@client_scenario(
    "An answer that is too much is no reason to end",
    brief=trying((LARGE, DEEP)),
    exercises=("hostile.large-answers",),
)
async def drive(stage: ClientStage) -> None:
    async def large(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "x" * BYTES}]}

    async def deep(cycle: RequestCycle) -> Answer:
        answer = answer_to(cycle, {"content": [], "_meta": {"lab/deep": []}})
        return Raw(answer.replace(b"[]}", b"[" * DEPTH + b"]" * DEPTH + b"}", 1))

    stage.host.add_tool({"name": LARGE}, large)
    stage.host.add_tool({"name": DEEP}, deep)
    stage.host.add_tool({"name": AFTER})
