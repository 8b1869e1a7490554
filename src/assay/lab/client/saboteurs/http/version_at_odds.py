"""Head and body at odds."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.suite.mirrored import VERSION
from assay.revisions.registry import DATES


@on_request("the version in the head is another than in the body", breaks="HTTP-49", scenario="tools_call")
def change(request: Request, client: ScriptedClient) -> Request:
    if request.header(VERSION) is not None:
        request.set(VERSION, DATES[0])
    return request
