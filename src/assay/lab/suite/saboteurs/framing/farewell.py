"""A last word on standard output, after the input has ended."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Conversation, scripted
from assay.lab.harness.sabotage.script import served
from assay.revisions.revision import Revision


@scripted("a farewell is printed when the input ends", breaks="STD-02", scenario="framing.shutdown")
async def play(conversation: Conversation, revision: Revision) -> None:
    async for _ in served(conversation, revision):
        pass
    conversation.send(b"Shutting down. Goodbye!")
