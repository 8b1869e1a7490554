"""The first request is refused for its version; every request describes itself."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.scripted_server.answer import Answer, Refused
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.server import Handler
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.model.error import UNSUPPORTED_VERSION


@official_scenario(
    "request-metadata",
    "Every request describes itself, and a refused version is not the end",
    brief=Brief(steps=(LIST_TOOLS, LIST_TOOLS), capabilities=("elicitation", "sampling", "roots"), path=""),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    unheard = [True]

    def refusing(handler: Handler) -> Handler:
        async def answered(cycle: RequestCycle) -> Answer:
            if cycle.id is not None and unheard:
                unheard.clear()
                versions = {
                    "supported": [cycle.revision.date],
                    "requested": str(cycle.meta.get(VERSION_KEY, "")),
                }
                raise Refused(UNSUPPORTED_VERSION, "Unsupported protocol version", versions)
            return await handler(cycle)

        return answered

    stage.host.handlers = {method: refusing(handler) for method, handler in stage.host.handlers.items()}
