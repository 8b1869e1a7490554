"""Who was let in, and how the others were refused: what the checks of the area sec read of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.sabotage.saboteur import WITH_CERTIFICATES, WITH_TOKENS
from assay.lab.harness.trace.admission import calls_with, in_query, is_public, told
from assay.lab.harness.trace.trace import Call

UNAUTHORIZED: Final = 401
MANIFESTS: Final = tuple(f"/.well-known/mcp-{kind}" for kind in ("tools", "resources", "prompts"))


def shows_token(call: Call) -> bool:
    return call.sent.get("authorization") is not None


def without_token(trace: Trace) -> Iterator[Call]:
    """Answered requests to the endpoint that show no token at all."""
    for call in trace.calls:
        if call.head is not None and not (shows_token(call) or is_public(call) or in_query(call)):
            yield call


def refusals(trace: Trace, rows: Mapping[str, str]) -> Iterator[Observation]:
    """Tokens of these kinds get 401; `rows` says which row each is about."""
    for kind, call in calls_with(trace, *rows):
        right = call.status == UNAUTHORIZED
        seen = f"{told(call)} for a token that is {kind}"
        yield observe(rows[kind], right, call, expected=f"status {UNAUTHORIZED}", observed=seen)


SERVER: Final = f"{WITH_TOKENS} reference --profile intelgraph"
CERTIFIED_SERVER: Final = f"{WITH_CERTIFICATES} reference --profile intelgraph"
