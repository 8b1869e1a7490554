"""Tools of which one marks its arguments in a way that is not allowed."""

from __future__ import annotations

from assay.lab.client.checks.http.bad_marks import BAD, GOOD, REPORT
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, step, tried
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.annotation import KEYWORD

STEPS = (
    LIST_TOOLS,
    step("echo_schema", of=GOOD, **{"with": REPORT}),
    tried(step("echo_schema", of=BAD, **{"with": REPORT})),
    call(AFTER),
)


@client_scenario(
    "A tool with bad marks is left out, and the others are kept",
    brief=Brief(steps=STEPS),
    exercises=("http.bad-marks",),
    transports=HTTP_ONLY,
)
async def drive(stage: ClientStage) -> None:
    # A header's name has no space in it.
    for name, header in ((BAD, "My Region"), (GOOD, "Region")):
        properties = {"region": {"type": "string", KEYWORD: header}}
        schema = {"type": "object", "description": name, "properties": properties}
        stage.host.add_tool({"name": name, "inputSchema": schema})
    for name in (REPORT, AFTER):
        stage.host.add_tool({"name": name})
