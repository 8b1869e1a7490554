"""A server whose lines are short."""

from __future__ import annotations

from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import Conversation, scripted
from assay.lab.harness.sabotage.script import least_answer
from assay.model.error import PARSE_ERROR
from assay.revisions.registry import PER_REQUEST
from assay.revisions.revision import Revision

BUFFER = 64 * 1024


@scripted(
    "a line over 64 KiB is taken for rubbish",
    breaks="CONF-TPT-01.stdio.load",
    window=lambda revision: revision in PER_REQUEST,
)
async def play(conversation: Conversation, revision: Revision) -> None:
    while (message := await conversation.receive()) is not None:
        answer = least_answer(message, revision)
        if len(encode(message)) > BUFFER:
            conversation.send({"jsonrpc": "2.0", "error": {"code": PARSE_ERROR, "message": "too long"}})
        elif answer is not None:
            conversation.send(answer)
