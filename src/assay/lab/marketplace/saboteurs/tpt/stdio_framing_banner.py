"""A server that greets whoever starts it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Conversation, scripted
from assay.lab.harness.sabotage.script import served
from assay.revisions.revision import Revision


@scripted("a greeting is printed before the first message", breaks="CONF-TPT-01.stdio.framing")
async def play(conversation: Conversation, revision: Revision) -> None:
    conversation.send(b"Server ready.\n")
    async for _ in served(conversation, revision):
        pass
