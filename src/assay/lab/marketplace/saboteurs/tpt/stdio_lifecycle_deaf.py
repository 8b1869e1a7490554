"""A process that does not let itself be asked."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Conversation, scripted
from assay.lab.harness.sabotage.script import served
from assay.revisions.revision import Revision


@scripted("the process ignores SIGTERM", breaks="CONF-TPT-01.stdio.lifecycle", silent=True)
async def play(conversation: Conversation, revision: Revision) -> None:
    conversation.deaf = True
    async for _ in served(conversation, revision):
        pass
