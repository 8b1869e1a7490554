"""Each message of a prompt has a speaker and one block of content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.prompt_get import prompt_gets


@check("Messages of prompts have a role and one content block", rows=("PR-08",))
def judge(trace: Trace) -> Iterator[Observation]:
    for get in prompt_gets(trace):
        for message in get.exchange.items("messages"):
            problem = _problem(message)
            yield observe(
                "PR-08",
                problem is None,
                get,
                expected="role user or assistant, and one content block",
                observed=problem,
            )


def _problem(message: Any) -> str | None:
    if not isinstance(message, dict):
        return f"a message that is no object: {message!r}"
    if message.get("role") not in ("user", "assistant"):
        return f"role {message.get('role')!r}"
    content = message.get("content")
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        return f"content {str(content)[:60]}"
    return None
