"""Completion of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    error_reply,
    observe,
    on_reply,
    on_result,
    result_reply,
    scenario,
)
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening

# --- what is asked


COMPLETED: Final = 2
"""How many arguments of prompts, and of templates, are completed."""
UNKNOWN_PROMPT: Final = {"type": "ref/prompt", "name": "no-such-prompt-of-the-lab"}
VARIABLE: Final = re.compile(r"\{[+#./;?&]?(\w+)")


def _can_show_something(facts: Facts) -> bool:
    """A revision without this capability demands nothing of a server that has nothing to complete."""
    is_declarable = "completions" in BY_DATE[facts.revision].capabilities
    return is_declarable or any(_prompts(facts)) or any(_templates(facts))


@scenario(
    "Complete arguments of prompts and templates",
    needs=(Need(_can_show_something, "lists no prompt or template with arguments"),),
    exercises=("utilities.completion-declared", "utilities.completion-values", "utilities.completion-input"),
    official="completion-complete",
)
async def drive_completion(stage: Stage) -> None:
    peer = await stage.open()
    known = [*_prompts(stage.facts)][:COMPLETED] + [*_templates(stage.facts)][:COMPLETED]
    replies = [await _complete(peer, ref, name) for ref, name in known or [(UNKNOWN_PROMPT, "any")]]
    if known and any(reply.is_result for reply in replies):
        ref, name = known[0]
        async with peer.probe("completion", what="unknown prompt"):
            await _complete(peer, UNKNOWN_PROMPT, name)
        async with peer.probe("completion", what="no argument"):
            await peer.request("completion/complete", {"ref": ref})
        async with peer.probe("completion", what="value is no text"):
            await _complete(peer, ref, name, value=7)


async def _complete(peer: Peer, ref: dict[str, Any], name: str, value: Any = "") -> Reply:
    return await peer.request("completion/complete", {"ref": ref, "argument": {"name": name, "value": value}})


def _prompts(facts: Facts) -> Iterator[tuple[dict[str, Any], str]]:
    for prompt in facts.prompts:
        arguments = prompt.get("arguments")
        for argument in arguments if isinstance(arguments, list) else []:
            if isinstance(argument, dict) and isinstance(argument.get("name"), str):
                yield {"type": "ref/prompt", "name": prompt.get("name")}, argument["name"]


def _templates(facts: Facts) -> Iterator[tuple[dict[str, Any], str]]:
    for uri in (str(template.get("uriTemplate")) for template in facts.templates):
        for name in VARIABLE.findall(uri):
            yield {"type": "ref/resource", "uri": uri}, name


# --- how it is judged


@check("Completion is declared where it is offered", requirements=("CMP-01", "CMP-03"))
def judge_completion_declared(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    exchanges = list(trace.exchanges("completion/complete"))
    completes = any(map(_offers if trace.revision.opening is Opening.PER_REQUEST else _values, exchanges))
    for exchange in exchanges:
        if declared is None or exchange.answer is None:
            continue
        if (offered := declared.has("completions")) or (exchange.result is not None and completes):
            expected, observed = "`completions` declared by a server that completes", "it is not declared"
            yield observe("CMP-01", offered, exchange, declared, expected=expected, observed=observed)
        else:
            refused = exchange.code == METHOD_NOT_FOUND
            expected = f"error {METHOD_NOT_FOUND} from a server without `completions`"
            yield observe("CMP-03", refused, exchange, declared, expected=expected, observed=exchange)


def _offers(exchange: Exchange) -> bool:
    """Whether the result is a completion, even an empty one."""
    return isinstance((exchange.result or {}).get("completion"), dict)


def _values(exchange: Exchange) -> list[Any]:
    """The completed values. A server that never has any does not complete, although it has the method."""
    completion = (exchange.result or {}).get("completion")
    values = completion.get("values") if isinstance(completion, dict) else None
    return values if isinstance(values, list) else []


MAX_VALUES: Final = 100


@check("A completion has at most 100 values", requirements=("CMP-02",), everywhere=True)
def judge_completion_values(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("completion/complete"):
        completion = (exchange.result or {}).get("completion")
        values = completion.get("values") if isinstance(completion, dict) else None
        if isinstance(values, list):
            expected, observed = f"at most {MAX_VALUES} values", f"{len(values)} values"
            yield observe("CMP-02", len(values) <= MAX_VALUES, exchange, expected=expected, observed=observed)


@check("Invalid completion requests are refused", requirements=("CMP-04", "CMP-06"))
def judge_completion_input(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("completion"):
        kind = probe.info.get("what")
        requirement = "CMP-06" if kind == "value is no text" else "CMP-04"
        for answer in probe.answers:
            refused = answer.code == INVALID_PARAMS
            if requirement == "CMP-06":
                refused = answer.shape is Shape.ERROR
            expected = f"error {INVALID_PARAMS}: {kind}"
            yield observe(requirement, refused, probe, expected=expected, observed=answer)


# --- what the checks must catch


@on_reply("does not support completion, and refuses it with -32600", breaks="CMP-03")
def completion_unsupported(reply: Json, context: FaultContext) -> Json:
    if context.method in ("initialize", "server/discover") and "result" in reply:
        reply["result"]["capabilities"].pop("completions")
    completes = context.method == "completion/complete"
    return error_reply(reply, INVALID_REQUEST, "no completion") if completes else reply


@on_reply(
    "answers completion with an empty list without declaring `completions`",
    breaks="CMP-03",
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
def completion_stub(reply: Json, context: FaultContext) -> Json:
    if context.method == "initialize" and "result" in reply:
        reply["result"]["capabilities"].pop("completions", None)
    stub: Json = {"completion": {"values": []}}
    return result_reply(reply, stub) if context.method == "completion/complete" else reply


@on_result("sends more than 100 values", breaks="CMP-02", method="completion/complete")
def completes_everything(result: Json, context: FaultContext) -> None:
    result["completion"]["values"] = [f"value {number}" for number in range(101)]


@on_reply("refuses a completion without argument with -32603", breaks="CMP-04")
def no_argument_fails(reply: Json, context: FaultContext) -> Json:
    if context.method == "completion/complete" and "argument" not in context.params:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


@on_reply("answers a completion for an unknown prompt with an empty list", breaks="CMP-04")
def unknown_prompt_completed(reply: Json, context: FaultContext) -> Json:
    valid = "argument" in context.params and isinstance(context.params["argument"]["value"], str)
    if context.method != "completion/complete" or "error" not in reply or not valid:
        return reply
    return result_reply(reply, {"completion": {"values": []}, "resultType": "complete"})


@on_reply("completes a value that is not a string", breaks="CMP-06")
def any_value_completed(reply: Json, context: FaultContext) -> Json:
    value = context.params.get("argument", {}).get("value", "")
    if context.method != "completion/complete" or isinstance(value, str):
        return reply
    return result_reply(reply, {"completion": {"values": ["anything"]}, "resultType": "complete"})


RESULT_EDITS: Final = edited_results(
    ("initialize", "server/discover"),
    (
        "utilities.completes-undeclared",
        "does not declare `completions`",
        "CMP-01",
        "capabilities.completions",
        ABSENT,
    ),
)
