"""Arguments of prompts are looked at before they are used."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.prompt_get import PromptGet, prompt_gets
from assay.model.error import INVALID_PARAMS


@check("Arguments of prompts are validated", rows=("PR-10", "PR-12"))
def judge(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        problem = _problem(get)
        if problem is None:
            continue
        expected = f"a refusal, since {problem}"
        yield observe("PR-12", not get.succeeded, get, expected=expected, observed=get.exchange)
        if get.missing and not get.succeeded and get.exchange.result is None:
            expected = f"error {INVALID_PARAMS}, since {problem}"
            holds = get.exchange.code == INVALID_PARAMS
            yield observe("PR-10", holds, get, expected=expected, observed=get.exchange)


def _problem(get: PromptGet) -> str | None:
    if get.missing:
        return f"the required {', '.join(get.missing)} is missing"
    return f"{', '.join(get.untextual)} is no text" if get.untextual else None
