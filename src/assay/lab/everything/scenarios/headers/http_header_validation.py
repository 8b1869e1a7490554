"""Standard headers: right, missing, different, in other letters, with spaces around them."""

from __future__ import annotations

from typing import Any

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_TOOL
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored import METHOD, NAME

LIST = "tools/list"


@official_scenario(
    "http-header-validation",
    "Standard headers must repeat the body",
    needs=(A_TOOL,),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(LIST)
    for spelled in (METHOD.lower(), METHOD.upper()):
        await peer.request(LIST, headers={METHOD: None, spelled: LIST})
    for given in ("prompts/list", None, LIST.upper()):
        await peer.request(LIST, headers={METHOD: given})
    tool = harmless(stage.facts)
    arguments = arguments_for(tool)
    await peer.call(tool, arguments)
    for name in (f"  {tool['name']}  ", "wrong_tool_name", None):
        await peer.call(tool, arguments, headers={NAME: name})


def harmless(facts: Facts) -> dict[str, Any]:
    """The simplest fixture, else a tool that only reads, else the first."""
    simple = [tool for tool in facts.tools if tool.get("name") == "test_simple_text"]
    return (simple or facts.read_only_tools or facts.tools)[0]
