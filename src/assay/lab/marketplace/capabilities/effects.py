"""Tool calls with effect summaries, compared with the changes on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe, on_result, scenario
from assay.lab.harness.need import A_READ_ONLY_TOOL, Need
from assay.lab.harness.sabotage.saboteur import Saboteur, newest_of_each_kind
from assay.lab.harness.subject.facts import Facts, Permission, hints
from assay.lab.harness.subject.registry_entry import as_object
from assay.lab.harness.trace.digest import DESCRIPTION, digest_of, digest_of_json, is_digest
from assay.lab.harness.transport import Transport
from assay.lab.marketplace.declaration import BOTH, profile_check

from .effect import MOST, ToolCall, call_observed, exclusive_access, observed_calls, shared_access, tool_calls
from .meta import EFFECTS, tag

PREFIX: Final = "CONF-CAP-03.tools"

# --- what is asked


def _changing_tools(facts: Facts) -> list[Json]:
    tools = [tool for tool in facts.tools if hints(tool).get("readOnlyHint") is not True]
    named = [tool for tool in tools if isinstance(tool.get("name"), str) and not facts.is_slow(tool)]
    # Without permission for effects, this scenario only runs in trials.
    return [tool for tool in named if facts.permission is Permission.READ_ONLY or facts.permits(tool)][:MOST]


A_CHANGING_TOOL: Final = Need(
    lambda facts: bool(_changing_tools(facts)), "has no tool that may change anything"
)


@scenario(
    "Call tools that may change something",
    exercises=("cap.effects", "cap.disk"),
    needs=(A_CHANGING_TOOL,),
    transports=BOTH,
    effects=True,
)
async def drive_effects(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    async with exclusive_access(stage):
        for tool in _changing_tools(stage.facts):
            await call_observed(stage, peer, tool)


@scenario(
    "Call read-only tools", exercises=("cap.effects", "cap.disk"), needs=(A_READ_ONLY_TOOL,), transports=BOTH
)
async def drive_read_only_tools(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    for tool in stage.facts.read_only_tools[:MOST]:
        async with shared_access(stage):
            await call_observed(stage, peer, tool)


# --- how it is judged


FIELDS: Final = "v, callId, tool, declared, effects, argsDigest, resultDigest and retention"


@profile_check(
    "Tool results summarise their effects",
    requirements=(f"{PREFIX}.effects", f"{PREFIX}.digests", f"{PREFIX}.ledger"),
)
def judge_effects(trace: Trace) -> Iterator[Observation]:
    calls = list(tool_calls(trace))
    for call in calls:
        holds = call.summary is not None and not call.problems
        expected = f'_meta["{EFFECTS}"] of the result, with {FIELDS} as the profile defines them'
        problems = "; ".join(call.problems) if call.summary is not None else f"no {EFFECTS}"
        observed = f"{call.name}: {problems}"
        yield observe(f"{PREFIX}.effects", holds, call, expected=expected, observed=observed)
        if call.summary is not None:
            yield from _judge_digests(call, call.summary)
            seq, digest = _entry(call)
            expected = f'"ledger" in {EFFECTS}: seq, a number, and entryHash, {DESCRIPTION}'
            observed = f"{call.name}: {call.summary.get('ledger')!r}"
            holds = seq is not None and is_digest(digest)
            yield observe(f"{PREFIX}.ledger", holds, call, expected=expected, observed=observed)
    yield from _judge_order(calls, one_ledger=trace.transport == Transport.STDIO)


def _judge_digests(call: ToolCall, summary: Json) -> Iterator[Observation]:
    values = {
        "argsDigest": call.exchange.params.get("arguments", {}),
        "resultDigest": (call.exchange.result or {}).get("content"),
    }
    for key, value in values.items():
        digest = digest_of_json(value)
        if digest is not None and is_digest(summary.get(key)):
            expected = f"{key} {digest}, of the canonical JSON that was sent"
            observed, holds = f"{call.name}: {summary[key]}", summary[key] == digest
            yield observe(f"{PREFIX}.digests", holds, call, expected=expected, observed=observed)


def _entry(call: ToolCall) -> tuple[int | None, Any]:
    """The number and the digest of the entry in the ledger."""
    entry = as_object((call.summary or {}).get("ledger"))
    seq = entry.get("seq")
    valid = isinstance(seq, int) and not isinstance(seq, bool) and seq >= 0
    return seq if valid else None, entry.get("entryHash")


def _judge_order(calls: Sequence[ToolCall], *, one_ledger: bool) -> Iterator[Observation]:
    """Each call has its own entry, in order. A process has one ledger; a URL may have several."""
    entries = [(call, *_entry(call)) for call in calls]
    valid = [(call, seq, digest) for call, seq, digest in entries if seq is not None and is_digest(digest)]
    for (call, seq, digest), (later, later_seq, later_digest) in pairwise(valid):
        holds = digest != later_digest and (later_seq > seq or not one_ledger)
        expected = "another entry for another call, and a higher number in the same ledger"
        observed = f"seq {seq} for {call.name}, then {later_seq} for {later.name}"
        yield observe(f"{PREFIX}.ledger", holds, call, later, expected=expected, observed=observed)


@profile_check("Tools change only what they report", requirements=(f"{PREFIX}.disk", f"{PREFIX}.read-only"))
def judge_disk(trace: Trace) -> Iterator[Observation]:
    for observation in observed_calls(trace):
        name, paths = observation.call.name, observation.paths
        if observation.call.only_reads:
            expected = "nothing changes on disk: the tool has readOnlyHint"
            requirement, observed = f"{PREFIX}.read-only", f"{name} changed {', '.join(paths)}"
        elif not paths and observation.call.changes_files:
            continue  # the tool writes to another directory than the one that is watched
        else:
            paths = observation.unreported
            expected = f'an effect in {EFFECTS} for each changed file: {{"kind": "file", "id": PATH}}'
            requirement, observed = (
                f"{PREFIX}.disk",
                f"{name} changed {', '.join(paths)} and did not report it",
            )
        yield observe(requirement, not paths, observation, expected=expected, observed=observed)
    for call in tool_calls(trace):
        if call.only_reads and call.summary is not None:
            expected = f"no effects in {EFFECTS} other than read-external: the tool has readOnlyHint"
            observed, holds = f"{call.name} reports {call.changes!r}", not call.changes
            yield observe(f"{PREFIX}.read-only", holds, call, expected=expected, observed=observed)


# --- what the checks must catch


def _alters_summary(
    name: str, fault: str, breaks: str, change: Callable[[Json, Json], object], **options: Any
) -> Saboteur:
    """A server that changes the summary in the results of its tools."""

    def alter(result: Json, context: FaultContext) -> None:
        summary = tag(result, EFFECTS)
        if summary is not None:
            change(summary, result)

    return on_result(fault, id=f"cap.{name}", breaks=f"{PREFIX}.{breaks}", method="tools/call", **options)(
        alter
    )


def _sets(**fields: Any) -> Callable[[Json, Json], None]:
    return lambda summary, result: summary.update(fields)


def _negates(summary: Json, result: Json) -> None:
    summary["declared"] = {hint: not value for hint, value in summary["declared"].items()}


def _renames_targets(summary: Json, result: Json) -> None:
    for effect in summary.get("effects", ()):
        effect["target"]["id"] = "elsewhere/other.txt"


def _reports_change(summary: Json, result: Json) -> None:
    if summary["declared"]["readOnly"]:
        summary["effects"] = [{"op": "update", "target": {"kind": "db", "id": "visitors"}}]


def _omits_summary(summary: Json, result: Json) -> None:
    result["_meta"].pop(EFFECTS)


def _omits_from_failures(summary: Json, result: Json) -> None:
    if result.get("isError"):
        result["_meta"].pop(EFFECTS)


def _digests_other_json(summary: Json, result: Json) -> None:
    summary["resultDigest"] = digest_of(json.dumps(result["content"]).encode())


EMPTY: Final = digest_of(b"{}")
TIDY: Final = {"op": "tidy", "target": {"kind": "file", "id": "notes"}}
ENTRY: Final = {"seq": 1, "entryHash": digest_of(b"")}
SUMMARIES: Final = (
    *(
        _alters_summary(*row)
        for row in (
            ("no-summary", "sends no summary of effects", "effects", _omits_summary),
            ("arguments-of-nobody", "digests no arguments", "digests", _sets(argsDigest=EMPTY)),
            ("no-entry", "names no entry of a ledger", "ledger", _sets(ledger=None)),
            ("effects-kept-back", "does not report a written file", "disk", _sets(effects=[])),
        )
    ),
    *(
        _alters_summary(*row, window=newest_of_each_kind)
        for row in (
            ("result-with-spaces", "digests another form of JSON", "digests", _digests_other_json),
            ("failures-untold", "sends no summary for failed calls", "effects", _omits_from_failures),
            ("hints-denied", "declares the opposite of the hints", "effects", _negates),
            ("odd-operation", "reports an unknown operation", "effects", _sets(effects=[TIDY])),
            ("summary-of-another", "names another tool", "effects", _sets(tool="another")),
            ("one-entry", "names one entry for two calls", "ledger", _sets(ledger=ENTRY)),
            ("another-file", "names another file", "disk", _renames_targets),
            ("reader-reports", "reports a change by a read-only tool", "read-only", _reports_change),
        )
    ),
)
WRITER: Final = "write_note"
"""The tool of the healthy server that writes a file."""


def _mislabel(result: Json) -> None:
    for tool in result.get("tools", ()):
        if tool["name"] == WRITER:
            tool["annotations"] = {"readOnlyHint": True}


@on_result(
    "writes a file in a tool with readOnlyHint",
    breaks=f"{PREFIX}.read-only",
    method=("tools/list", "tools/call"),
)
def secret_writer(result: Json, context: FaultContext) -> None:
    _mislabel(result)
    if (summary := tag(result, EFFECTS)) is not None:
        summary["effects"] = []


@on_result("reports changes by a tool with readOnlyHint", breaks=f"{PREFIX}.read-only", method="tools/list")
def writer_called_reader(result: Json, context: FaultContext) -> None:
    _mislabel(result)
