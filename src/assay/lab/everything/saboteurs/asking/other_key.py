"""The question has another name than the fixture's."""

from __future__ import annotations

from assay.lab.everything.input_round import USER_NAME, asking_tool
from assay.lab.everything.spoiling import result_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("the user is asked under another key than `user_name`", breaks="sep-2322-elicitation-incomplete")
def change(reply: Json, context: FaultContext) -> Json:
    result = result_for(reply, context, asking_tool("elicitation"))
    if result is not None and "inputRequests" in result:
        result["inputRequests"] = {"name_of_user": result["inputRequests"].pop(USER_NAME)}
    return reply
