"""Requests of every kind, good ones and bad, each in a trace of its own."""

from __future__ import annotations

from assay.lab.harness.driver.safe_request import SafeRequest, errands
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import SPANS_TO_SEE
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.facts import Facts
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.obs_hearing import hear_spans, new_trace

NOBODY = "no-such-thing-of-the-lab"
LISTS = ("tools", "resources", "prompts")


@scenario(
    "Requests in traces of their own",
    exercises=("obs.spans", "obs.names", "obs.conventions", "obs.parent", "obs.errors"),
    needs=(SPANS_TO_SEE,),
    transports=BOTH,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    methods = {}
    for errand in [*_lists(stage.facts), *errands(stage.facts), *_wrong(stage.facts)]:
        trace_id, meta = new_trace()
        methods[trace_id] = errand.method
        await errand.ask(peer, meta)
    await hear_spans(stage, methods)


def _lists(facts: Facts) -> list[SafeRequest]:
    return [SafeRequest(f"{kind}/list", {}) for kind in LISTS if kind in facts.capabilities]


def _wrong(facts: Facts) -> list[SafeRequest]:
    """What is the driver's fault, and not the server's."""
    unknown = [SafeRequest(f"lab/{NOBODY}", {})]
    if "tools" in facts.capabilities:
        unknown.append(SafeRequest("tools/call", {"name": NOBODY, "arguments": {}}))
    if "prompts" in facts.capabilities:
        unknown.append(SafeRequest("prompts/get", {"name": NOBODY}))
    return unknown
