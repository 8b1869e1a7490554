"""Tools that ask a question by their result, and the calls of them in a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from assay.lab.harness.trace import Exchange, Trace

from .evidence import calls_of

ECHO: Final = "test_mrtr_echo_state"
NO_STATE: Final = "test_mrtr_no_state"
UNRELATED: Final = "test_mrtr_unrelated"
UNTYPED: Final = "test_mrtr_no_result_type"
# Unusual white space, escapes and numbers: who reads it and writes it anew changes it.
STATE: Final = '{"round" :1.0, "nonce":"%s",  "say":"\\u00e9\\/", "of":[ ]}'
GIVEN: Final = "inputResponses"
STATE_KEY: Final = "requestState"


class Round(Struct, frozen=True):
    """A question in a result, and the call that answered it."""

    question: Exchange
    retry: Exchange


def rounds(trace: Trace, tool: str) -> Iterator[Round]:
    """Each call with answers, beside the question whose state it brings back; else the last before it."""
    questions: list[Exchange] = []
    for one in calls_of(trace, tool):
        if GIVEN in one.params and questions:
            state = one.params.get(STATE_KEY)
            mine = (past for past in questions if (past.result or {}).get(STATE_KEY) == state)
            yield Round(next(mine, questions[-1]), one)
        elif (one.result or {}).get("resultType") == "input_required":
            questions.append(one)
