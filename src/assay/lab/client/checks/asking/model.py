"""What a model answers."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.questions import MODEL, Question, questions
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

LENGTH, CHOICE = "SMP-10", "SMP-20"
LONGEST = 200
"""Characters: no tokenizer makes tokens as long as that of words."""


@check("A model keeps to its length and to the choice of tools", rows=(LENGTH, CHOICE), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for one in questions(trace, MODEL):
        if one.result is not None:
            yield from _length(one)
            yield from _choice(one)


def _length(one: Question) -> Iterator[Observation]:
    most = one.params.get("maxTokens")
    texts = [block["text"] for block in one.content if isinstance(block.get("text"), str)]
    if isinstance(most, int) and texts:
        length = sum(map(len, texts))
        expected, observed = f"at most {most} tokens", f"{length} characters"
        yield observe(LENGTH, length <= most * LONGEST, one, expected=expected, observed=observed)


def _choice(one: Question) -> Iterator[Observation]:
    choice = one.params.get("toolChoice")
    mode = choice.get("mode") if isinstance(choice, dict) else None
    used = [block.get("name") for block in one.uses_of_tools]
    if mode == "required":
        yield observe(CHOICE, bool(used), one, expected="the use of a tool", observed="none")
    elif mode == "none":
        yield observe(CHOICE, not used, one, expected="no use of a tool", observed=f"{used}")
