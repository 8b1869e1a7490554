"""Refused requests and servers that require credentials, as the security topics use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.sabotage.saboteur import WITH_CERTIFICATES, WITH_TOKENS
from assay.lab.harness.trace.authorization import HEADER, calls_with, in_query, is_public, outcome_text
from assay.lab.harness.trace.trace import Call

UNAUTHORIZED: Final = 401
MANIFESTS: Final = tuple(f"/.well-known/mcp-{kind}" for kind in ("tools", "resources", "prompts"))
SERVER: Final = f"{WITH_TOKENS} reference --profile intelgraph --no-ledger"
CERTIFIED_SERVER: Final = f"{WITH_CERTIFICATES} reference --profile intelgraph --no-ledger"


def without_token(trace: Trace) -> Iterator[Call]:
    """Answered requests to the endpoint that carry no token."""
    for call in trace.calls:
        has_token = call.sent.get("authorization") is not None or in_query(call)
        if call.head is not None and not has_token and not is_public(call):
            yield call


def judge_refused(trace: Trace, requirements: Mapping[str, str]) -> Iterator[Observation]:
    """Tokens of these kinds get 401; each kind is mapped to its requirement."""
    for kind, call in calls_with(trace, *requirements):
        refused, observed = call.status == UNAUTHORIZED, f"{outcome_text(call)} for a token that is {kind}"
        expected = f"status {UNAUTHORIZED}"
        yield observe(requirements[kind], refused, call, expected=expected, observed=observed)


def challenges(call: Call) -> str:
    """The challenges of a response, for findings."""
    return ", ".join([] if call.head is None else call.head.all(HEADER)) or "no challenge"
