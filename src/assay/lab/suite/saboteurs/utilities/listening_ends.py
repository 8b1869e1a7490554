"""Listen streams are accepted, and end at once."""

from __future__ import annotations

import msgspec

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.links.http_text import EVENT_STREAM
from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call


@on_call("a listen stream ends without a word", breaks="CAN-12")
def change(request: Request, context: FaultContext) -> Response | None:
    if context.method != "subscriptions/listen" or context.asked is None:
        return None
    meta = {SUBSCRIPTION_KEY: context.asked["id"]}
    method = "notifications/subscriptions/acknowledged"
    params = {"_meta": meta, "notifications": context.params["notifications"]}
    event = msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params})
    return Response([("Content-Type", EVENT_STREAM)], 200, b"data: %b\n\n" % event)
