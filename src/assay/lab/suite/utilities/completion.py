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
    observe,
    on_reply,
    on_result,
    scenario,
)
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.message import Shape
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND

# --- what is asked


MOST = 2
"""Prompts, and templates, whose arguments are completed."""
NO_PROMPT = {"type": "ref/prompt", "name": "no-such-prompt-of-the-lab"}
VARIABLE = re.compile(r"\{[+#./;?&]?(\w+)")


@scenario(
    "Completion of arguments",
    exercises=("utilities.completion-declared", "utilities.completion-values", "utilities.completion-input"),
    official="completion-complete",
)
async def drive_completion(stage: Stage) -> None:
    peer = await stage.open()
    known = [*_prompts(stage.facts)][:MOST] + [*_templates(stage.facts)][:MOST]
    replies = [await _complete(peer, ref, name) for ref, name in known or [(NO_PROMPT, "any")]]
    if known and any(reply.is_result for reply in replies):
        ref, name = known[0]
        async with peer.probe("completion", what="unknown prompt"):
            await _complete(peer, NO_PROMPT, name)
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
    for template in facts.templates:
        uri = str(template.get("uriTemplate"))
        for name in VARIABLE.findall(uri):
            yield {"type": "ref/resource", "uri": uri}, name


# --- how it is judged


@check("Completion is declared where it is offered", requirements=("CMP-01", "CMP-03"))
def judge_completion_declared(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    for exchange in trace.exchanges("completion/complete"):
        if declared is None or exchange.answer is None:
            continue
        if declared.has("completions") or exchange.result is not None:
            yield observe(
                "CMP-01",
                declared.has("completions"),
                exchange,
                declared,
                expected="`completions` declared by a server that completes",
                observed="it is not declared",
            )
        else:
            yield observe(
                "CMP-03",
                exchange.code == METHOD_NOT_FOUND,
                exchange,
                declared,
                expected=f"error {METHOD_NOT_FOUND} from a server without `completions`",
                observed=exchange,
            )


COMPLETION_VALUES_MOST = 100


@check("At most 100 values in a completion", requirements=("CMP-02",), everywhere=True)
def judge_completion_values(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("completion/complete"):
        completion = (exchange.result or {}).get("completion")
        values = completion.get("values") if isinstance(completion, dict) else None
        if isinstance(values, list):
            yield observe(
                "CMP-02",
                len(values) <= COMPLETION_VALUES_MOST,
                exchange,
                expected=f"at most {COMPLETION_VALUES_MOST} values",
                observed=f"{len(values)} values",
            )


ROWS = {"unknown prompt": "CMP-04", "no argument": "CMP-04", "value is no text": "CMP-06"}


@check("Bad completion requests are refused", requirements=("CMP-04", "CMP-06"))
def judge_completion_input(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("completion"):
        what = probe.info.get("what")
        row = ROWS.get(what) if isinstance(what, str) else None
        for answer in probe.answers if row is not None else ():
            refused = answer.shape is Shape.ERROR
            yield observe(
                row or "",
                refused if row == "CMP-06" else answer.code == INVALID_PARAMS,
                probe,
                expected=f"error {INVALID_PARAMS}: {what}",
                observed=answer,
            )


# --- what the checks must catch


@on_reply("completion is not offered, and gets another code than -32601", breaks="CMP-03")
def completion_unsupported(reply: Json, context: FaultContext) -> Json:
    if context.method in ("initialize", "server/discover") and "result" in reply:
        reply["result"]["capabilities"].pop("completions")
    if context.method == "completion/complete":
        error = {"code": INVALID_REQUEST, "message": "no completion"}
        return {"jsonrpc": "2.0", "id": reply["id"], "error": error}
    return reply


@on_result("a completion has more than 100 values", breaks="CMP-02", method="completion/complete")
def completes_everything(result: Json, context: FaultContext) -> None:
    result["completion"]["values"] = [f"value {number}" for number in range(101)]


@on_reply("completion without an argument gets -32603", breaks="CMP-04")
def no_argument_fails(reply: Json, context: FaultContext) -> Json:
    if context.method == "completion/complete" and "argument" not in context.params:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


@on_reply("completion for an unknown prompt gives an empty list", breaks="CMP-04")
def unknown_prompt_completed(reply: Json, context: FaultContext) -> Json:
    named = "argument" in context.params and isinstance(context.params["argument"]["value"], str)
    if context.method != "completion/complete" or "error" not in reply or not named:
        return reply
    result = {"completion": {"values": []}, "resultType": "complete"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}


@on_reply("a value that is no text is completed", breaks="CMP-06")
def any_value_completed(reply: Json, context: FaultContext) -> Json:
    typed = context.params.get("argument", {}).get("value", "")
    if context.method != "completion/complete" or isinstance(typed, str):
        return reply
    result = {"completion": {"values": ["anything"]}, "resultType": "complete"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}


RESULT_EDITS: Final = edited_results(
    ("initialize", "server/discover"),
    (
        "utilities.completes-undeclared",
        "`completions` is not declared",
        "CMP-01",
        "capabilities.completions",
        ABSENT,
    ),
)
