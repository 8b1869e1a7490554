"""A server that is a script, and prints what it does."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Conversation, scripted
from assay.revisions.revision import Revision


@scripted("log lines go to standard output", breaks="STD-02")
async def play(conversation: Conversation, revision: Revision) -> None:
    while (message := await conversation.receive()) is not None:
        conversation.send(f"INFO received {message.get('method')}\n".encode())
        if "id" in message:
            server = {"name": "chatty", "version": "1"}
            result = {"protocolVersion": revision.date, "capabilities": {}, "serverInfo": server}
            conversation.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
