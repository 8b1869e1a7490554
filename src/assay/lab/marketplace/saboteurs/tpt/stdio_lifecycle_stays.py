"""A process that nobody talks to any more, and that stays."""

from __future__ import annotations

import asyncio

from assay.lab.harness.sabotage.saboteur import Conversation, scripted
from assay.lab.harness.sabotage.script import served
from assay.revisions.revision import Revision


@scripted("the process goes on when its input has ended", breaks="CONF-TPT-01.stdio.lifecycle", silent=True)
async def play(conversation: Conversation, revision: Revision) -> None:
    async for _ in served(conversation, revision):
        pass
    await asyncio.Event().wait()
