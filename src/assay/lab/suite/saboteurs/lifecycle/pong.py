"""`ping` is answered with something."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("ping is answered with content", breaks="PNG-01")
def change(reply: Json, turn: Turn) -> Json:
    return {**reply, "result": {"message": "pong"}} if turn.method == "ping" else reply
