"""Paths that climb from a file that is offered to one that is not."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.driver.choice import uris_of
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.facts import Facts

HIGH: Final = 12
"""Steps up: more than any path is deep."""
STEPS: Final = ("../", "%2e%2e/", "..%2f")


def file_uris(facts: Facts) -> list[str]:
    return [uri for uri in uris_of(facts) if uri.startswith("file:///")]


A_FILE: Final = Need(lambda facts: bool(file_uris(facts)), "lists no file:// resources")


@scenario("Paths that lead out", exercises=("resources.traversal",), needs=(A_FILE,))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    known = file_uris(stage.facts)[0]
    await peer.request("resources/read", {"uri": known})
    await peer.request("resources/read", {"uri": "file:///etc/hosts"})
    for step in STEPS:
        await peer.request("resources/read", {"uri": f"{known.rpartition('/')[0]}/{step * HIGH}etc/hosts"})
