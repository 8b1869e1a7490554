"""The list changes, and who listens is not told."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.revision import Structured


@on_reply(
    "`notifications/prompts/list_changed` is never sent",
    breaks="PR-02",
    window=lambda revision: revision.structured is not Structured.ABSENT,
    silent=True,
)
def change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == "notifications/prompts/list_changed" else reply
