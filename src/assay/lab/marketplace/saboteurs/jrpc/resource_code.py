"""The code for a resource that is not there is that of another revision."""

from __future__ import annotations

from assay.lab.harness.saboteur import Json, Turn, on_reply
from assay.model.error import INVALID_PARAMS, RESOURCE_NOT_FOUND

OTHER = {INVALID_PARAMS: RESOURCE_NOT_FOUND, RESOURCE_NOT_FOUND: INVALID_PARAMS}


@on_reply("a missing resource gets the code of another revision", breaks="CONF-JRPC-02.codes")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "resources/read" and "uri" in turn.params and "error" in reply:
        code = reply["error"]["code"]
        reply["error"]["code"] = OTHER.get(code, code)
    return reply
