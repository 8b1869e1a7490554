"""Whatever is asked for is granted, known or not."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of
from assay.lab.suite.listening import ACKNOWLEDGED
from assay.lab.suite.subscription import LISTEN


def echo(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == ACKNOWLEDGED:
        reply["params"]["notifications"] = context.memory[repr(reply["params"]["_meta"][SUBSCRIPTION_KEY])]
    return reply


@on_request("the acknowledgement repeats what was asked for", breaks="SUB-04", reply=echo)
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == LISTEN:
        context.memory[repr(message["id"])] = params_of(message).get("notifications")
    return message
