"""The methods that every endpoint takes."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY


@scenario(
    "The methods of the endpoint", exercises=("http.endpoint", "streams.answer-type"), transports=HTTP_ONLY
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    if stage.revision.http.sessions:
        await peer.taken(await peer.http.listen())
