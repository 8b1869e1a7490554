"""Tool calls with effect summaries, compared with the changes on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe, on_reply, scenario
from assay.lab.harness.need import A_READ_ONLY_TOOL, Need
from assay.lab.harness.sabotage.saboteur import newest_of_each_kind
from assay.lab.harness.subject.facts import Facts, hints
from assay.lab.harness.subject.registry_entry import as_object
from assay.lab.harness.trace.digest import DESCRIPTION, digest_of, digest_of_json, is_digest
from assay.lab.harness.transport import Transport
from assay.lab.marketplace.declaration import BOTH, profile_check

from .effect import MOST, Seen, Summarised, call_watched, looking_on, observed, summarised, undisturbed
from .fault import WRITER, call_reader, summary
from .meta import EFFECTS

# --- what is asked


def _changing(facts: Facts) -> list[dict[str, object]]:
    found = [tool for tool in facts.tools if hints(tool).get("readOnlyHint") is not True]
    return [tool for tool in found if isinstance(tool.get("name"), str)][:MOST]


A_CHANGING_TOOL = Need(lambda facts: bool(_changing(facts)), "has no tool that may change anything")


@scenario(
    "Tools that change something, and what they say of it",
    exercises=("cap.effects", "cap.disk"),
    needs=(A_CHANGING_TOOL,),
    transports=BOTH,
    effects=True,
)
async def drive_effects(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    async with undisturbed(stage):
        for tool in _changing(stage.facts):
            await call_watched(stage, peer, tool)


@scenario(
    "Tools that only read, and what they do",
    exercises=("cap.effects", "cap.disk"),
    needs=(A_READ_ONLY_TOOL,),
    transports=BOTH,
)
async def drive_read_only_tools(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    for tool in stage.facts.read_only_tools[:MOST]:
        async with looking_on(stage):
            await call_watched(stage, peer, tool)


# --- how it is judged


FORM: Final = "CONF-CAP-03.tools.effects"
DIGESTS: Final = "CONF-CAP-03.tools.digests"
LEDGER: Final = "CONF-CAP-03.tools.ledger"
FIELDS: Final = "v, callId, tool, declared, effects, argsDigest, resultDigest and retention"


@profile_check("Results of tools tell of their effects", requirements=(FORM, DIGESTS, LEDGER))
def judge_effects(trace: Trace) -> Iterator[Observation]:
    calls = list(summarised(trace))
    for call in calls:
        yield _form(call)
        if call.summary is not None:
            yield from _digests(call, call.summary)
            yield _entry(call, call.summary)
    yield from _numbers(calls, one_process=trace.transport == Transport.STDIO)


def _form(call: Summarised) -> Observation:
    there = call.summary is not None
    return observe(
        FORM,
        there and not call.problems,
        call,
        expected=f'_meta["{EFFECTS}"] of the result, with {FIELDS} as the profile has them',
        observed=f"{call.name}: {'; '.join(call.problems)}" if there else f"{call.name}: no {EFFECTS}",
    )


def _digests(call: Summarised, summary: dict[str, Any]) -> Iterator[Observation]:
    over = {
        "argsDigest": call.exchange.params.get("arguments", {}),
        "resultDigest": (call.exchange.result or {}).get("content"),
    }
    for key, value in over.items():
        right = digest_of_json(value)
        if right is not None and is_digest(summary.get(key)):
            yield observe(
                DIGESTS,
                summary[key] == right,
                call,
                expected=f"{key} {right}, of the canonical JSON of what passed",
                observed=f"{call.name}: {summary[key]}",
            )


def _entry(call: Summarised, summary: dict[str, Any]) -> Observation:
    found = as_object(summary.get("ledger"))
    return observe(
        LEDGER,
        _number(call) is not None and is_digest(found.get("entryHash")),
        call,
        expected=f'"ledger" in {EFFECTS}: seq, a number, and entryHash, {DESCRIPTION}',
        observed=f"{call.name}: {summary.get('ledger')!r}",
    )


def _number(call: Summarised) -> int | None:
    found = as_object((call.summary or {}).get("ledger")).get("seq")
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def _hash(call: Summarised) -> Any:
    return as_object((call.summary or {}).get("ledger")).get("entryHash")


def _numbers(calls: Sequence[Summarised], *, one_process: bool) -> Iterator[Observation]:
    """No entry is of two calls. Behind one address there may be several ledgers; one process has one, and
    writes into it in order."""
    entered = [one for one in calls if _number(one) is not None and is_digest(_hash(one))]
    for one, later in pairwise(entered):
        first, second = (_number(one) or 0, _number(later) or 0)
        yield observe(
            LEDGER,
            _hash(one) != _hash(later) and (second > first or not one_process),
            one,
            later,
            expected="another entry for another call, and a higher number in the same ledger",
            observed=f"seq {first} for {one.name}, then {second} for {later.name}",
        )


DISK_TOLD: Final = "CONF-CAP-03.tools.disk"
READS: Final = "CONF-CAP-03.tools.read-only"


@profile_check("Tools do what they say", requirements=(DISK_TOLD, READS))
def judge_disk(trace: Trace) -> Iterator[Observation]:
    for seen in observed(trace):
        yield _left(seen) if seen.call.only_reads else _told(seen)
    for call in summarised(trace):
        if call.only_reads and call.summary is not None:
            yield _harmless(call)


def _told(seen: Seen) -> Observation:
    untold = seen.untold
    return observe(
        DISK_TOLD,
        not untold,
        seen,
        expected=f'for each changed file an effect in {EFFECTS}, its target {{"kind": "file", "id": PATH}}',
        observed=f"{seen.call.name} changed {', '.join(untold)} and does not say so",
    )


def _left(seen: Seen) -> Observation:
    return observe(
        READS,
        not seen.paths,
        seen,
        expected="nothing changes on disk: the tool has readOnlyHint",
        observed=f"{seen.call.name} changed {', '.join(seen.paths)}",
    )


def _harmless(call: Summarised) -> Observation:
    return observe(
        READS,
        not call.changes,
        call,
        expected=f"no effects in {EFFECTS}, or read-external alone: the tool has readOnlyHint",
        observed=f"{call.name} reports {call.changes!r}",
    )


# --- what the checks must catch


@on_reply("argsDigest is the one of an empty object", breaks="CONF-CAP-03.tools.digests")
def arguments_of_nobody(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said["argsDigest"] = digest_of(b"{}")
    return reply


@on_reply(
    "resultDigest is of another form of JSON", breaks="CONF-CAP-03.tools.digests", window=newest_of_each_kind
)
def result_with_spaces(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        written = json.dumps(reply["result"]["content"]).encode()
        said["resultDigest"] = digest_of(written)
    return reply


@on_reply(
    "failed calls have no summary of effects", breaks="CONF-CAP-03.tools.effects", window=newest_of_each_kind
)
def failures_untold(reply: Json, context: FaultContext) -> Json:
    if summary(reply, context) is not None and reply["result"].get("isError"):
        reply["result"]["_meta"].pop(EFFECTS)
    return reply


@on_reply(
    "the summary declares the opposite of the hints",
    breaks="CONF-CAP-03.tools.effects",
    window=newest_of_each_kind,
)
def hints_denied(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said["declared"] = {hint: not value for hint, value in said["declared"].items()}
    return reply


@on_reply("results of tools have no summary of effects", breaks="CONF-CAP-03.tools.effects")
def no_summary(reply: Json, context: FaultContext) -> Json:
    if summary(reply, context) is not None:
        reply["result"]["_meta"].pop(EFFECTS)
    return reply


@on_reply(
    "an effect has an unknown operation", breaks="CONF-CAP-03.tools.effects", window=newest_of_each_kind
)
def odd_operation(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said["effects"] = [{"op": "tidy", "target": {"kind": "file", "id": "notes"}}]
    return reply


@on_reply("the summary names another tool", breaks="CONF-CAP-03.tools.effects", window=newest_of_each_kind)
def summary_of_another(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said["tool"] = "another"
    return reply


@on_reply("the summary names no entry of a ledger", breaks="CONF-CAP-03.tools.ledger")
def no_entry(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said.pop("ledger", None)
    return reply


@on_reply(
    "two calls have the same entry in the ledger",
    breaks="CONF-CAP-03.tools.ledger",
    window=newest_of_each_kind,
)
def one_entry(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said["ledger"] = {"seq": 1, "entryHash": digest_of(b"")}
    return reply


@on_reply("the effect names another file", breaks="CONF-CAP-03.tools.disk", window=newest_of_each_kind)
def another_file(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    for effect in (said or {}).get("effects", ()):
        effect["target"]["id"] = "elsewhere/other.txt"
    return reply


@on_reply("a tool that writes a file reports no effect", breaks="CONF-CAP-03.tools.disk")
def effects_kept_back(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said["effects"] = []
    return reply


@on_reply(
    "a read-only tool reports a change", breaks="CONF-CAP-03.tools.read-only", window=newest_of_each_kind
)
def reader_reports(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None and said["declared"]["readOnly"]:
        said["effects"] = [{"op": "update", "target": {"kind": "db", "id": "visitors"}}]
    return reply


@on_reply("a tool with readOnlyHint writes a file", breaks="CONF-CAP-03.tools.read-only")
def secret_writer(reply: Json, context: FaultContext) -> Json:
    call_reader(reply, context, WRITER)
    said = summary(reply, context)
    if said is not None:
        said["effects"] = []
    return reply


@on_reply("a tool that reports changes has readOnlyHint", breaks="CONF-CAP-03.tools.read-only")
def writer_called_reader(reply: Json, context: FaultContext) -> Json:
    call_reader(reply, context, WRITER)
    return reply
