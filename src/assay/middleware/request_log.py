"""One line in the log for each request."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter
from typing import Final

from assay.model.error import RpcError
from assay.model.result import ToolResult
from assay.model.visible import visible
from assay.protocol.codec import encode
from assay.protocol.middleware import Ending
from assay.server.middleware.call import MiddlewareCall, Next, Result

from .log import MAX_LENGTH, logger, title_of

ENDINGS: Final = {
    Ending.FAILED: "failed",
    Ending.CANCELLED: "cancelled",
    Ending.QUESTION: "asked the client",
}


class Logging:
    """Logs each request: method, name, outcome, duration, principal and transport.

    Args:
        log: The logger; by default `assay.middleware`.
        level: The level of the lines.
        arguments: Whether to log the arguments, which may be secret.
        clock: Returns seconds.
    """

    def __init__(
        self,
        log: logging.Logger | None = None,
        *,
        level: int = logging.INFO,
        arguments: bool = False,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._log = log or logger
        self._level = level
        self._arguments = arguments
        self._clock = clock

    async def __call__(self, call: MiddlewareCall, next: Next[Result]) -> Result:
        begin, outcome = self._clock(), "failed"
        try:
            result = await next(call)
            outcome = "error result" if isinstance(result, ToolResult) and result.is_error else "ok"
            return result
        except BaseException as error:
            outcome = f"error {error.code}" if isinstance(error, RpcError) else ENDINGS[call.ending_of(error)]
            raise
        finally:
            if self._log.isEnabledFor(self._level):
                self._write(call, outcome, self._clock() - begin)

    def _write(self, call: MiddlewareCall, outcome: str, seconds: float) -> None:
        principal = (
            "" if call.principal is None else f", principal {visible(str(call.principal)[:MAX_LENGTH])}"
        )
        arguments = f", arguments {_text_of(call)}" if self._arguments else ""
        text = "%s: %s in %.1f ms (%s%s%s)"
        transport = call.scope.transport
        self._log.log(
            self._level, text, title_of(call), outcome, seconds * 1000, transport, principal, arguments
        )


def _text_of(call: MiddlewareCall) -> str:
    return visible(encode(call.arguments).decode()[: 4 * MAX_LENGTH])
