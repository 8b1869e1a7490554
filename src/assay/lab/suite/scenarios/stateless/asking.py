"""Tools that ask first: answered well, badly, with state that is not theirs, and by clients that cannot."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.choice import ASKING, tools_that
from assay.lab.harness.driver.input_round import retry
from assay.lab.harness.driver.mirrored_header import param_headers
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_TOOL
from assay.lab.harness.scenario import scenario
from assay.lab.suite.forging import forgeries
from assay.revisions.revision import Asking

ROUNDS: Final = 4
ABLE: Final[dict[str, Any]] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


class Asked(Struct):
    """A tool in the middle of its questions."""

    tool: dict[str, Any]
    answers: dict[str, Any]
    """What the next try comes with."""

    async def call(self, peer: Peer, **more: Any) -> Reply:
        arguments = arguments_for(self.tool)
        params = {"name": self.tool["name"], "arguments": arguments, **more}
        return await peer.request("tools/call", params, headers=param_headers(self.tool, arguments))

    async def retry(self, peer: Peer, **changed: Any) -> Reply:
        given = {**self.answers, **changed}
        return await self.call(peer, **{key: value for key, value in given.items() if value is not None})


@scenario(
    "Tools that ask first",
    exercises=(
        "stateless.input-required",
        "stateless.missing-capability",
        "stateless.request-state",
        "stateless.input-responses",
        "stateless.abandoned",
        "stateless.only-clients-ask",
        "stateless.retired-codes",
    ),
    needs=(A_TOOL,),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
    effects=True,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open(**ABLE)
    previous: Asked | None = None
    for tool in tools_that(ASKING, stage.facts):
        asked = Asked(tool, {})
        reply = await asked.call(peer)
        if previous is None and reply.result.get("resultType") == "input_required":
            reply = await asked.call(peer)
        if reply.result.get("resultType") == "input_required":
            await _interview(peer, asked, reply, previous)
            await _unable(peer, asked)
            previous = asked


async def _interview(peer: Peer, asked: Asked, reply: Reply, previous: Asked | None) -> None:
    """To the end, with attempts on the way: at the first tool, and where one asks a second time."""
    for turn in range(ROUNDS):
        asked.answers = retry(peer, reply.result)
        if previous is None or turn == 1:
            await _mislead(peer, asked)
        elif turn == 0 and "requestState" in asked.answers and "requestState" in previous.answers:
            await previous.retry(peer, requestState=asked.answers["requestState"])
        reply = await asked.retry(peer)
        if reply.result.get("resultType") != "input_required":
            return


async def _mislead(peer: Peer, asked: Asked) -> None:
    given, state = asked.answers["inputResponses"], asked.answers.get("requestState")
    for wrong in (
        {**given, "nobody-asked": {"action": "decline"}},
        dict.fromkeys(given, 42),
        [given],
        {},
    ):
        await asked.retry(peer, inputResponses=wrong)
    if isinstance(state, str):
        await asked.call(peer, inputResponses=given)
        for forged in forgeries(state):
            await asked.retry(peer, requestState=forged)


async def _unable(peer: Peer, asked: Asked) -> None:
    """The same call from a client that declares nothing, though it declared all that before."""
    peer.capabilities = {}
    await asked.call(peer)
    peer.capabilities = ABLE
