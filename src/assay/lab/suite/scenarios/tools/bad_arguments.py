"""Calls that work, and the same with arguments that the tool's own schema refuses, or by another name."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.driver.argument import arguments_for, refused_arguments
from assay.lab.harness.driver.peer import Reply
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_READ_ONLY_TOOL
from assay.lab.harness.scenario import scenario

ENOUGH: Final = 3
"""Tools that work, of which wrong calls are tried; of others a refusal would prove nothing."""


@scenario(
    "Arguments that do not fit, and names that almost do",
    exercises=("tools.bad-arguments", "tools.letter-case"),
    needs=(A_READ_ONLY_TOOL,),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    tried = 0
    for tool in stage.facts.read_only_tools:
        bad = list(refused_arguments(tool))
        if tried == ENOUGH or not bad or not _works(await peer.call(tool, arguments_for(tool))):
            continue
        tried += 1
        for arguments in bad:
            await peer.call(tool, arguments)
        swapped = str(tool["name"]).swapcase()
        if swapped not in [one.get("name") for one in stage.facts.tools]:
            await peer.call({**tool, "name": swapped}, arguments_for(tool))


def _works(reply: Reply) -> bool:
    done = reply.result.get("resultType", "complete") == "complete"
    return reply.is_result and done and not reply.result.get("isError")
