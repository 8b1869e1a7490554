"""How a request ended, in the terms of the conventions.

A caller's mistake is not an error of the server: alarms are for its operators.
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

CALLER_ERRORS: Final = frozenset(
    {
        *(PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, RESOURCE_NOT_FOUND),
        *(HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION, INSUFFICIENT_SCOPE),
    }
)
"""Error codes that the caller is responsible for."""
MAX_DEPTH: Final = 16
"""Levels of nested exceptions to unwrap."""


class Outcome(Struct, frozen=True):
    code: str | None = None
    """The code of the JSON-RPC error in the response."""
    error: str | None = None
    """`error.type`, if the server failed."""
    text: str | None = None
    """The error message that the client received."""

    @property
    def attributes(self) -> dict[str, str]:
        named = {"rpc.response.status_code": self.code, "error.type": self.error}
        return {name: value for name, value in named.items() if value is not None}


OK: Final = Outcome()
TOOL_ERROR: Final = Outcome(error="tool_error")


def of_result(result: Any) -> Outcome:
    failed = result.get("isError") if isinstance(result, dict) else getattr(result, "is_error", False)
    return TOOL_ERROR if failed is True else OK


def of_exception(error: BaseException, revision: Revision) -> Outcome:
    """The outcome of a request that failed with this exception."""
    error = _innermost(error)
    if not getattr(error, "answered", True):
        return OK  # cancelled while a resource was read, which wraps the exception
    code, text = INTERNAL_ERROR, "internal error"
    if isinstance(error, RpcError):
        code, text = error.code, error.message
    if isinstance(error, ResourceNotFound):
        code = revision.resource_not_found
    return Outcome(str(code)) if code in CALLER_ERRORS else Outcome(str(code), str(code), text)


def _innermost(error: BaseException) -> BaseException:
    """The single cause inside exception groups and wrappers that carry a `failure`."""
    for _ in range(MAX_DEPTH):
        inner = getattr(error, "failure", None)
        if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            inner = error.exceptions[0]
        if not isinstance(inner, BaseException):
            break
        error = inner
    return error
