"""A refusal offers versions that the server does not speak."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import UNSUPPORTED_VERSION


@on_reply("a refusal offers a version that is not spoken", breaks="sep-2575-server-unsupported-version-error")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"]["data"]["supported"] = ["v1000.0.0"]
    return reply
