"""The capability manifests in a bundle: `registry/mcp-tools.json`, `mcp-resources.json`, `mcp-prompts.json`.

They depend on the run alone, so a verifier can rebuild them and compare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from assay.certify.registry.capability_manifests import FILES, manifest_entry
from assay.lab.harness.run.run import Run
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.registry_entry import KINDS
from assay.lab.harness.trace.digest import canonical_json
from assay.lab.harness.trace.file import parse_trace
from assay.lab.harness.transport import Transport
from assay.lab.marketplace.capabilities.manifest import manifests as published_manifests

from . import layout

SCENARIO: Final = "cap.manifests"
"""The scenario that requests them."""


def capability_files(run: Run, content: Callable[[str], bytes]) -> dict[str, bytes]:
    """On HTTP, the manifests that the server publishes; otherwise generated from its lists.

    `content` returns a file of the bundle by its name.

    Raises:
        BadTrace: a trace is invalid.
    """
    spoken = {record.transport: record.facts for record in run.subjects if record.facts}
    if Transport.HTTP in spoken:
        manifests = _published(run, content)
    else:
        newest = max(next(iter(spoken.values())), key=lambda facts: facts.revision) if spoken else None
        manifests = _generated(newest) if newest else {}
    return {f"{layout.REGISTRY}{FILES[kind]}": data for kind, data in manifests.items()}


def _published(run: Run, content: Callable[[str], bytes]) -> dict[str, bytes]:
    """The manifests do not depend on the revision; those of the newest one win."""
    bodies: dict[str, bytes] = {}
    requesting = [cell for cell in run.cells if cell.scenario == SCENARIO and cell.trace]
    for cell in sorted(requesting, key=lambda cell: cell.revision):
        name = f"{layout.RUN_FOLDER}{cell.trace}"
        answers = published_manifests(parse_trace(content(name), name))
        bodies |= {answer.kind: answer.call.body for answer in answers if isinstance(answer.value, list)}
    return bodies


def _generated(facts: Facts) -> dict[str, bytes]:
    documents = {
        kind: canonical_json([manifest_entry(kind, item) for item in getattr(facts, kind)]) for kind in KINDS
    }
    return {kind: data for kind, data in documents.items() if data is not None}
