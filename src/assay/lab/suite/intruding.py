"""Somebody who speaks in a conversation that is not theirs: without a token, or with their own."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.choice import ASKING, tools_that
from assay.lab.harness.driver.input_round import retry
from assay.lab.harness.driver.mirrored_header import param_headers
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening

from .interview import EVERYTHING, MOST, Interviewee


def _asking_tools(facts: Facts) -> list[dict[str, Any]]:
    """Those that only read, so that they can be asked to the end."""
    return [tool for tool in facts.read_only_tools if tool in tools_that(ASKING, facts)][:MOST]


def _keeps_something(facts: Facts) -> bool:
    if BY_DATE[facts.revision].opening is Opening.HANDSHAKE:
        return facts.session
    return bool(_asking_tools(facts))


SOMETHING_KEPT: Final = Need(_keeps_something, "has neither a session nor a tool that speaks of asking")


async def intrude(stage: Stage, owner: Peer, bearer: str) -> None:
    """Everything that can be said in the owner's conversation, the end of it last."""
    intruder = await _intruder(stage, owner, bearer)
    await intruder.request(stage.plain)
    if "tools" in stage.facts.capabilities:
        await intruder.request("tools/list")
    if stage.revision.opening is Opening.PER_REQUEST:
        return
    await intruder.notify("notifications/roots/list_changed")
    if intruder.http.session is None:
        return
    for after in (None, "1"):
        stream = await intruder.http.listen(after=after)
        await stream.settled(intruder.patience)
    ending = await intruder.http.call("DELETE", headers=intruder.http.session_headers())
    await ending.settled(intruder.patience)


async def _intruder(stage: Stage, owner: Peer, bearer: str) -> Peer:
    intruder = await stage.connect(bearer)
    intruder.http.session, intruder.http.version = owner.http.session, owner.http.version
    return intruder


async def intrude_with_state(stage: Stage, bearer: str) -> None:
    """Go on with a request of somebody else, where its state is in the hands of clients."""
    if stage.revision.opening is not Opening.PER_REQUEST:
        return
    owner = await stage.open(**EVERYTHING)
    Interviewee(owner)
    for tool in _asking_tools(stage.facts):
        arguments = arguments_for(tool)
        asked = (await owner.call(tool, arguments)).result
        if isinstance(asked.get("requestState"), str):
            again = {"name": tool["name"], "arguments": arguments, **retry(owner, asked)}
            return await _go_on(stage, tool, again, bearer)


async def _go_on(stage: Stage, tool: dict[str, Any], params: dict[str, Any], bearer: str) -> None:
    intruder = await stage.connect(bearer)
    intruder.capabilities = dict(EVERYTHING)
    headers = param_headers(tool, params["arguments"])
    await intruder.request("tools/call", params, headers=headers)
