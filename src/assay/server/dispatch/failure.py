"""From exceptions to errors: the one place that decides what a client learns about a failure.

Only public text goes to the client. Everything else goes to the log, unless the server is in debug mode.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from assay.model.error import INTERNAL_ERROR, AskError, ResourceNotFound, RpcError, ToolError
from assay.model.visible import visible_record
from assay.server.calls.call import Call, Cancelled, EndedEarly

if TYPE_CHECKING:
    from .exception_details import ExceptionDetails

logger = logging.getLogger("assay")
logger.addFilter(visible_record)


class ReadFailed(Exception):
    """A resource could not be read. The error that the client gets names the URI."""

    def __init__(self, uri: str, failure: Exception) -> None:
        super().__init__(uri)
        self.uri = uri
        self.failure = failure


def unwrap(error: BaseException) -> BaseException:
    """The exception inside a group of one: a handler that uses a task group still failed for one reason."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def to_rpc_error(error: BaseException, call: Call, method: str) -> RpcError | None:
    """The error to answer with; None if the request must not be answered. Takes every exception that a
    handler may raise, also those that are meant for an interpreter or an event loop."""
    error = unwrap(error)
    if isinstance(error, Cancelled):
        return None
    if isinstance(error, ResourceNotFound):
        return RpcError(call.peer.revision.resource_not_found, error.message, error.data)
    if isinstance(error, RpcError):
        return error
    if isinstance(error, ToolError | AskError | EndedEarly):
        return RpcError(INTERNAL_ERROR, str(error))
    if isinstance(error, ReadFailed):
        return _failed_read(error, call, method)
    log_failure(method, error)
    return _internal_error(error, call)


def _failed_read(error: ReadFailed, call: Call, method: str) -> RpcError | None:
    """The error for the handler's own exception, with the URI added to its data."""
    failure = to_rpc_error(error.failure, call, method)
    if failure is None or (failure.data is not None and isinstance(unwrap(error.failure), RpcError)):
        return failure
    return RpcError(failure.code, failure.message, {"uri": error.uri, **(failure.data or {})})


def _internal_error(error: BaseException, call: Call) -> RpcError:
    if not call.services.server.debug:
        return RpcError(INTERNAL_ERROR, "internal error")
    details = _describe(error)
    return RpcError(INTERNAL_ERROR, f"internal error: {details.summary}", details.data)


def tool_failure(tool: str, error: BaseException, call: Call) -> str:
    """The text of the result of a tool that raised an exception. The exception is logged."""
    log_failure(f"tool {tool}", error)
    if not call.services.server.debug:
        return f"tool {tool} failed: internal error"
    details = _describe(error)
    return f"tool {tool} failed: {details.summary}\n\n{details.traceback}"


def _describe(error: BaseException) -> ExceptionDetails:
    # Imported here, because only servers in debug mode need it.
    from .exception_details import describe

    return describe(error)


def log_failure(source: str, error: BaseException) -> None:
    logger.error("%s failed", source, exc_info=error)


def log_fault(text: str) -> None:
    """Log a mistake of the author whose text says all: a traceback would show the framework only."""
    logger.error("%s", text)
