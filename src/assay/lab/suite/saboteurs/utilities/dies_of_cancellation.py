"""A script that looks up what is cancelled, and falls over when it is not there."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Conversation, scripted
from assay.revisions.revision import Revision


@scripted("a late cancellation ends the server", breaks="CAN-08", scenario="utilities.odd-cancellations")
async def play(conversation: Conversation, revision: Revision) -> None:
    while (message := await conversation.receive()) is not None:
        if message.get("method") == "notifications/cancelled":
            return
        if "id" in message:
            result = RESULTS.get(message["method"], {})
            conversation.send({"jsonrpc": "2.0", "id": message["id"], "result": result})


RESULTS = {
    "initialize": {"capabilities": {}, "serverInfo": {"name": "frail", "version": "1"}},
}
