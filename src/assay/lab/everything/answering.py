"""A client that can be asked, and how it answers the fixtures that ask before they do anything."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.driver.input_round import retry
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE
from assay.lab.harness.driver.responder import SAMPLED
from assay.lab.harness.driver.stage import Stage

ABLE: Final[dict[str, Any]] = {"sampling": {}, "elicitation": {}, "roots": {}}
ALICE: Final[dict[str, Any]] = {"action": "accept", "content": {"name": "Alice"}}


async def able(stage: Stage, content: dict[str, Any] | None = None) -> Peer:
    """A client that can be asked anything, and fills every form with this content."""
    peer = await stage.open(**ABLE)
    form = ALICE if content is None else {"action": "accept", "content": content}
    peer.responders = {
        ELICIT: lambda params: {"result": form},
        SAMPLE: lambda params: {"result": SAMPLED},
        ROOTS: lambda params: {"result": {"roots": [{"uri": "file:///test/root", "name": "Test Root"}]}},
    }
    return peer


async def call(peer: Peer, name: str, **more: Any) -> Reply:
    return await peer.request("tools/call", {"name": name, "arguments": {}, **more})


async def call_again(peer: Peer, name: str, asked: Reply, **changed: Any) -> Reply:
    """Once more, with answers to what was asked, and with what came along with the questions."""
    return await call(peer, name, **{**retry(peer, asked.result), **changed})


def wants_input(reply: Reply) -> bool:
    return reply.result.get("resultType") == "input_required"


async def call_through(peer: Peer, name: str, rounds: int = 1) -> Reply:
    """Call, and answer so many rounds of questions; a server that asks on is for a check to find."""
    reply = await call(peer, name)
    for _ in range(rounds):
        if wants_input(reply):
            reply = await call_again(peer, name, reply)
    return reply
