"""Everything that may be cached, page by page."""

from __future__ import annotations

from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.discovery import LISTS
from assay.revisions.revision import Results


@scenario(
    "Results for caches",
    exercises=(
        "stateless.cache-hints",
        "stateless.cache-pages",
        "stateless.result-type",
        "stateless.result-meta",
        "stateless.input-required",
        "stateless.retired-codes",
    ),
    window=lambda revision: revision.results is Results.TYPED,
    official="caching",
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("server/discover")
    for capability, method, key, _ in LISTS:
        if stage.facts.declares(capability):
            await peer.pages(method, key)
    if stage.facts.declares("resources"):
        for uri in (*uris_of(stage.facts)[:1], NOWHERE):
            await peer.request("resources/read", {"uri": uri})
