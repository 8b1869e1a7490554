"""Arguments of prompts and templates, completed; and requests that cannot be completed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.facts import Facts

MOST = 2
"""Prompts, and templates, whose arguments are completed."""
NO_PROMPT = {"type": "ref/prompt", "name": "no-such-prompt-of-the-lab"}
VARIABLE = re.compile(r"\{[+#./;?&]?(\w+)")


@scenario(
    "Completion of arguments",
    exercises=(
        "utilities.completion-declared",
        "utilities.completion-values",
        "utilities.completion-input",
    ),
    official="completion-complete",
)
async def drive(stage: Stage) -> None:
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
