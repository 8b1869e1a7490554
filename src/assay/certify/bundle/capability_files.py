"""The capability manifests in a bundle, `registry/mcp-tools.json` and its sisters: made of a run alone, so
that whoever verifies makes the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from assay.certify.registry.capability_manifests import FILES, made_of
from assay.lab.harness.run.run import Run
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.registry_entry import KINDS
from assay.lab.harness.trace.digest import canonical_json
from assay.lab.harness.trace.file import parse_trace
from assay.lab.harness.transport import Transport
from assay.lab.marketplace.capabilities.manifest import manifests

from . import layout

SCENARIO: Final = "cap.manifests"
"""Where a server is asked for them."""


def capability_files(run: Run, content: Callable[[str], bytes]) -> dict[str, bytes]:
    """As the server publishes them, if it was judged on HTTP, and none that it does not publish; otherwise
    made of its lists. `content` is a file of the bundle by its name.

    Raises:
        BadTrace: one of the traces is none.
    """
    spoken = {record.transport: record.facts for record in run.subjects if record.facts}
    if Transport.HTTP in spoken:
        found = _published(run, content)
    else:
        found = _made(max(next(iter(spoken.values())), key=_date)) if spoken else {}
    return {f"{layout.REGISTRY}{FILES[kind]}": data for kind, data in found.items()}


def _published(run: Run, content: Callable[[str], bytes]) -> dict[str, bytes]:
    """The answers of the newest revision at which there were any: they do not depend on it."""
    found: dict[str, bytes] = {}
    asked = [cell for cell in run.cells if cell.scenario == SCENARIO and cell.trace]
    for cell in sorted(asked, key=lambda cell: cell.revision):
        name = f"{layout.RUN_FOLDER}{cell.trace}"
        answers = manifests(parse_trace(content(name), name))
        found |= {one.kind: one.call.body for one in answers if one.is_there}
    return found


def _made(facts: Facts) -> dict[str, bytes]:
    made = {kind: canonical_json([made_of(kind, item) for item in getattr(facts, kind)]) for kind in KINDS}
    return {kind: data for kind, data in made.items() if data is not None}


def _date(facts: Facts) -> str:
    return facts.revision
