"""How a request ended, in the words of the conventions.

On a server, what the caller did wrong is no error: alarms are for those who run it.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from assay.model.error import (
    HEADER_MISMATCH,
    INSUFFICIENT_SCOPE,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_VERSION,
    ResourceNotFound,
    RpcError,
)
from assay.revisions.revision import Revision

CALLERS: Final = frozenset(
    {
        *(PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, RESOURCE_NOT_FOUND),
        *(HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION, INSUFFICIENT_SCOPE),
    }
)
"""Codes of what the caller did wrong."""
DEEPEST: Final = 16
"""Exceptions within each other."""


class Outcome(Struct, frozen=True):
    code: str | None = None
    """Of the JSON-RPC error that is the answer."""
    error: str | None = None
    """`error.type`, where the server failed."""
    text: str | None = None
    """What the client is told of that."""

    @property
    def attributes(self) -> dict[str, str]:
        named = {"rpc.response.status_code": self.code, "error.type": self.error}
        return {name: value for name, value in named.items() if value is not None}


FINE: Final = Outcome()
TOOL_ERROR: Final = Outcome(error="tool_error")


def of_result(result: Any) -> Outcome:
    failed = result.get("isError") if isinstance(result, dict) else getattr(result, "is_error", False)
    return TOOL_ERROR if failed is True else FINE


def of_exception(error: BaseException, revision: Revision) -> Outcome:
    """Requests that end with questions to the client, or that nobody waits for any more, have not failed."""
    error = _innermost(error)
    if not isinstance(error, Exception | SystemExit) or not getattr(error, "answered", True):
        return FINE
    code, text = INTERNAL_ERROR, "internal error"
    if isinstance(error, RpcError):
        code, text = error.code, error.message
    if isinstance(error, ResourceNotFound):
        code = revision.resource_not_found
    return Outcome(str(code)) if code in CALLERS else Outcome(str(code), str(code), text)


def _innermost(error: BaseException) -> BaseException:
    """The one failure within groups, and within what says where it happened."""
    for _ in range(DEEPEST):
        inner = getattr(error, "failure", None)
        if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            inner = error.exceptions[0]
        if not isinstance(inner, BaseException):
            break
        error = inner
    return error
