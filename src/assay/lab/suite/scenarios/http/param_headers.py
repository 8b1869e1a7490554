"""Calls whose headers repeat an argument, or do not."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.driver.argument import arguments_for, value_for
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.annotation import A_READ_ONLY_HEADER, Annotation, usable


@scenario(
    "Arguments in headers",
    exercises=("http.param-headers",),
    needs=(A_READ_ONLY_HEADER,),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    tool = next(tool for tool in stage.facts.read_only_tools if usable(tool))
    marked = usable(tool)
    arguments = {**arguments_for(tool), **{one.path[0]: value_for(one.schema) for one in marked}}
    await peer.call(tool, arguments)
    one = marked[0]
    for given in (None, "of-another-kind", "caf\N{LATIN SMALL LETTER E WITH ACUTE}"):
        await peer.call(tool, arguments, headers={one.header: given})
    for value in ({}, {one.path[0]: None}):
        await peer.call(tool, {**without(arguments, one), **value})
    for number in (mark for mark in marked if type(arguments[mark.path[0]]) is int):
        await peer.call(tool, arguments, headers={number.header: f"{arguments[number.path[0]]}.0"})


def without(arguments: dict[str, Any], one: Annotation) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != one.path[0]}
