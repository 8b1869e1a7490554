"""Tools with parameters that clients repeat in headers."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.suite.annotation import A_HEADER


@scenario(
    "Parameters that are marked for headers",
    exercises=("http.param-annotations",),
    needs=(A_HEADER,),
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
