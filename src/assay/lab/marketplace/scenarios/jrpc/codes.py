"""One request for each cause that JSON-RPC or the revision has a code for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from assay.lab.harness.driver.choice import NOWHERE
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import Transport
from assay.lab.marketplace import jrpc_cause as cause
from assay.lab.marketplace.declaring import BOTH
from assay.revisions.revision import Opening

NEVER = "1999-12-31"
"""A version that no server has."""


class Case(Struct, frozen=True):
    cause: str
    method: str
    params: dict[str, Any] = {}
    headers: dict[str, str] = {}


@scenario("Errors by their causes", exercises=("jrpc.codes",), transports=BOTH)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for case in _cases(stage):
        async with peer.probe(cause.PROBE, cause=case.cause):
            await peer.request(case.method, case.params, headers=case.headers)


def _cases(stage: Stage) -> Iterator[Case]:
    facts = stage.facts
    yield Case(cause.UNKNOWN_METHOD, "no/such/method")
    if facts.declares("tools"):
        yield Case(cause.BAD_PARAMS, "tools/call", {"arguments": {}})
    if facts.declares("prompts"):
        yield Case(cause.BAD_PARAMS, "prompts/get", {"name": "no-such-prompt-of-the-lab"})
    if facts.declares("resources"):
        yield Case(cause.BAD_PARAMS, "resources/read")
        yield Case(cause.NO_RESOURCE, "resources/read", {"uri": NOWHERE})
    if stage.revision.opening is Opening.PER_REQUEST:
        yield Case(cause.UNKNOWN_VERSION, stage.plain, {"_meta": {VERSION_KEY: NEVER}})
        if stage.transport is Transport.HTTP:
            yield Case(cause.OTHER_HEADER, stage.plain, headers={"Mcp-Method": "tools/list"})
