"""Version and capabilities have defaults."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_request, params_of


@on_request("a request without version or capabilities is served", breaks="META-08")
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "server/discover":
        meta = {VERSION_KEY: context.revision.date, CAPABILITIES_KEY: {}, **meta_of(message)}
        message["params"] = {**params_of(message), "_meta": meta}
    return message
