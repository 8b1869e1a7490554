"""Version and capabilities have defaults."""

from __future__ import annotations

from assay.lab.harness.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.saboteur import Json, Turn, on_request


@on_request("a request without version or capabilities is served", breaks="META-08")
def change(message: Json, turn: Turn) -> Json:
    if message.get("method") == "server/discover":
        params = message.setdefault("params", {})
        params["_meta"] = {VERSION_KEY: turn.revision.date, CAPABILITIES_KEY: {}, **params.get("_meta", {})}
    return message
