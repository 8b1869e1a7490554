"""A server whose queue is short, and who says nothing of what did not fit."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Conversation, scripted
from assay.lab.harness.sabotage.script import least_answer
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision

QUEUE = 4096


@scripted(
    "what comes after 4096 messages is forgotten",
    breaks="CONF-TPT-01.stdio.load",
    silent=True,
    window=lambda revision: revision in HANDSHAKE,
)
async def play(conversation: Conversation, revision: Revision) -> None:
    count = 0
    while (message := await conversation.receive()) is not None:
        count += 1
        answer = least_answer(message, revision)
        if answer is not None and count <= QUEUE:
            conversation.send(answer)
