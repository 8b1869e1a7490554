"""The registry entry tells the truth about the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.lab.harness.subject.out_of_band import REGISTRY
from assay.lab.harness.subject.registry_entry import (
    KINDS,
    PROFILE,
    PUBLISHER,
    TRANSPORTS,
    as_object,
    capabilities_block,
    profile_block,
)
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.listing import listings
from assay.lab.harness.trace.trace import Probe, Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Evidence, Observation, observe
from assay.lab.marketplace.cap_prompt import knows_all_content
from assay.lab.marketplace.declaring import profile_check

ROW: Final = "CONF-CAP-03.registry.agree"
BATCH: Final = "a batch"


@profile_check("The registry entry is true", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for note in trace.marks(REGISTRY):
        block = profile_block(note.info.get("entry"))
        yield _seen(bool(block), note, f'_meta["{PUBLISHER}"]["{PROFILE}"] in the entry', "none")
        if block:
            yield from _reached(trace, note, block)
            yield from _batches(trace, note, block)
            yield from _lists(trace, note, as_object(block.get("capabilities")))


def _seen(holds: bool, note: Frame, expected: str, found: object, *evidence: Evidence) -> Observation:
    return observe(ROW, holds, note, *evidence, expected=expected, observed=found)


def _reached(trace: Trace, note: Frame, block: Mapping[str, Any]) -> Iterator[Observation]:
    here = {"transports": TRANSPORTS[Transport(trace.transport)], "protocolVersions": trace.revision.date}
    for key, value in here.items():
        told = block.get(key)
        there = isinstance(told, list) and value in told
        yield _seen(there, note, f"{key} with {value}, as this conversation shows", f"{key}: {told!r}")


def _batches(trace: Trace, note: Frame, block: Mapping[str, Any]) -> Iterator[Observation]:
    told = as_object(block.get("jsonrpc")).get("batch")
    yield _seen(isinstance(told, bool), note, "jsonrpc.batch, true or false", f"{told!r}")
    for probe in trace.probes(BATCH):
        taken = any("result" in answer.fields for answer in probe.answers)
        yield _seen(
            taken is (told is True), note, f"jsonrpc.batch is {str(taken).lower()}", _told(probe, told), probe
        )


def _told(probe: Probe, told: Any) -> str:
    return f"{told!r}, and a batch is answered with {', '.join(map(str, probe.answers)) or 'nothing'}"


def _lists(trace: Trace, note: Frame, told: dict[str, Any]) -> Iterator[Observation]:
    """A list may change while it is read: the entry is true if it is true of one reading. Resources that come
    and go, as the server itself says, are not held against an entry that was made before."""
    declared = declaration(trace)
    moving = declared is not None and declared.has("resources", "listChanged")
    left_out = () if knows_all_content(trace.revision) else ("digests",)
    for kind in KINDS:
        live = [one for one in listings(trace, f"{kind}/list", kind) if one.complete]
        right = [capabilities_block({kind: one.items})[kind] for one in live]
        if live and not (moving and kind == "resources"):
            said = as_object(told.get(kind))
            holds = any(_same(said, one, left_out) for one in right)
            yield _seen(
                holds,
                note,
                f"capabilities.{kind} {right[-1]}, as {kind}/list shows",
                f"{told.get(kind)!r}",
                *live,
            )


def _same(said: Mapping[str, Any], right: Mapping[str, Any], left_out: tuple[str, ...]) -> bool:
    return all(said.get(key) == value for key, value in right.items() if key not in left_out)
