"""Of two versions that differ, the one in the header is believed."""

from __future__ import annotations

from assay.lab.everything.stateless_probe import NO_VERSION
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call


@on_call("a version in the header overrides the body's", breaks="sep-2575-http-server-header-mismatch-400")
def change(request: Request, context: FaultContext) -> None:
    told = context.meta.get(VERSION_KEY)
    if told == NO_VERSION and request.header("mcp-protocol-version") != told:
        request.body = request.body.replace(NO_VERSION.encode(), context.revision.date.encode())
