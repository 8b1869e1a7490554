"""From exceptions to answers: the one place that decides what a client learns of a failure.

Public text only goes on the wire. Everything else goes to the log.
"""

from __future__ import annotations

import logging

from assay.model.error import INTERNAL_ERROR, AskError, ResourceNotFound, RpcError, ToolError

from .call import Call, Cancelled, TimedOut

logger = logging.getLogger("assay")


class ReadFailed(Exception):
    """Reading a resource failed: which, and how. Every failed read names its URI to the client."""

    def __init__(self, uri: str, failure: Exception) -> None:
        super().__init__(uri)
        self.uri = uri
        self.failure = failure


def unwrap(error: BaseException) -> BaseException:
    """The one exception inside a group: a handler with a task group failed for one reason all the same."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def to_rpc_error(error: BaseException, call: Call, method: str) -> RpcError | None:
    """The error to answer with; none when no answer may follow."""
    error = unwrap(error)
    if isinstance(error, Cancelled):
        return None
    if isinstance(error, ResourceNotFound):
        return RpcError(call.peer.revision.resource_not_found, error.message, error.data)
    if isinstance(error, RpcError):
        return error
    if isinstance(error, ToolError | AskError | TimedOut):
        return RpcError(INTERNAL_ERROR, str(error))
    if isinstance(error, ReadFailed):
        return _failed_read(error, call, method)
    log_failure(method, error)
    return RpcError(INTERNAL_ERROR, "internal error")


def _failed_read(error: ReadFailed, call: Call, method: str) -> RpcError | None:
    """What the handler's own failure is answered with, and the URI that was read."""
    failure = to_rpc_error(error.failure, call, method)
    if failure is not None and failure.data is None:
        failure = RpcError(failure.code, failure.message, {"uri": error.uri})
    return failure


def log_failure(what: str, error: BaseException) -> None:
    logger.error("%s failed", what, exc_info=error)
