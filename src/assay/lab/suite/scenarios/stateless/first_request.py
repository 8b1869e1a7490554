"""What worked on one connection is the first request on another."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.choice import uris_of
from assay.lab.harness.driver.mirrored_header import param_headers
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.facts import Facts
from assay.revisions.revision import Opening

Operation = tuple[str, dict[str, Any], dict[str, str]]


def operations(facts: Facts) -> list[Operation]:
    """One of each kind that changes nothing: method, parameters, headers."""
    read: list[Operation] = [("resources/read", {"uri": uri}, {}) for uri in uris_of(facts)[:1]]
    for tool in facts.read_only_tools[:1]:
        arguments = arguments_for(tool)
        params = {"name": tool.get("name"), "arguments": arguments}
        read.append(("tools/call", params, param_headers(tool, arguments)))
    return read


SOMETHING: Final = Need(lambda facts: bool(operations(facts)), "has no resource and no tool that only reads")


@scenario(
    "First requests of a connection",
    exercises=("stateless.fresh-connection",),
    needs=(SOMETHING,),
    window=lambda revision: revision.opening is Opening.PER_REQUEST,
)
async def drive(stage: Stage) -> None:
    used = await stage.open()
    await used.request("server/discover")
    for method, params, headers in operations(stage.facts):
        await used.request(method, params, headers=headers)
        fresh = await stage.open()
        await fresh.request(method, params, headers=headers)
