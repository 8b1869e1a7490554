"""The outcome of a request in spans and metrics."""

import asyncio
from typing import Any

import pytest

from assay import ResourceNotFound, RpcError, ToolResult
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS
from assay.revisions.registry import REVISIONS
from assay.server.calls.call import Cancelled, TimedOut
from assay.server.dispatch.failure import ReadFailed
from assay.telemetry.outcome import OK, TOOL_ERROR, Outcome, of_exception, of_result

NEWEST = REVISIONS[-1]
BROKEN = Outcome(str(INTERNAL_ERROR), str(INTERNAL_ERROR), "internal error")


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (ToolResult([]), OK),
        (ToolResult([], is_error=True), TOOL_ERROR),
        ({"content": []}, OK),
        ({"content": [], "isError": True}, TOOL_ERROR),
        (None, OK),
    ],
)
def test_a_result_may_tell_of_a_tool_that_failed(result: Any, outcome: Outcome) -> None:
    assert of_result(result) == outcome


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ValueError("secret"), BROKEN),
        (SystemExit(3), BROKEN),
        (TimedOut("slow"), BROKEN),
        (ExceptionGroup("two", [ValueError("a"), ValueError("b")]), BROKEN),
        (RpcError(-32050, "own"), Outcome("-32050", "-32050", "own")),
        (RpcError(INVALID_PARAMS, "bad"), Outcome(str(INVALID_PARAMS))),
        (ExceptionGroup("one", [RpcError(INVALID_PARAMS, "bad")]), Outcome(str(INVALID_PARAMS))),
        (ReadFailed("u:x", RpcError(INVALID_PARAMS, "bad")), Outcome(str(INVALID_PARAMS))),
        (ReadFailed("u:x", ResourceNotFound("u:x")), Outcome(str(NEWEST.resource_not_found))),
        (Cancelled("gone"), OK),
        (ReadFailed("u:x", Cancelled("gone")), OK),
        (asyncio.CancelledError(), BROKEN),
        (KeyboardInterrupt(), BROKEN),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failure_is_told_by_its_code(error: BaseException, outcome: Outcome) -> None:
    assert of_exception(error, NEWEST) == outcome


def test_an_exception_within_itself_is_looked_into_for_a_while_only() -> None:
    error = ReadFailed("u:x", ValueError())
    error.failure = error

    assert of_exception(error, NEWEST) == BROKEN
