"""A server of an earlier version: it shakes hands, and its results do not say what they are."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Asking


@client_scenario(
    "A result without a type, of a server of an earlier version, is complete",
    brief=Brief(steps=(LIST_TOOLS, call("untyped"), call(AFTER)), may_fail=True),
    exercises=("asking.result-types",),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
    also=("contract.ends",),
)
async def drive(stage: ClientStage) -> None:
    # Only of such servers is it said: one of this version MUST name the type, and a client that refuses its
    # result is right.
    stage.host.revision = HANDSHAKE[-1]
    stage.host.streams = True
    stage.host.add_tool({"name": "untyped"})
    stage.host.add_tool({"name": AFTER})
