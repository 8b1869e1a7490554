"""Errors without their text, which goes to the log under a reference that the client gets."""

from __future__ import annotations

from secrets import token_hex
from typing import Final

from assay.model.content import Text
from assay.model.error import (
    BUSY,
    HEADER_MISMATCH,
    INSUFFICIENT_SCOPE,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_VERSION,
    RpcError,
)
from assay.model.result import ToolResult
from assay.protocol.middleware import Ending
from assay.server.dispatch.failure import to_rpc_error
from assay.server.middleware.call import MiddlewareCall, Next, Result

from .log import logger, title_of

PROTOCOL_ERRORS: Final = frozenset(
    {
        *(PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, RESOURCE_NOT_FOUND),
        *(HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION, INSUFFICIENT_SCOPE, BUSY),
    }
)
"""Errors about the request itself, which its sender can correct."""
BAD_ARGUMENTS: Final = "invalid arguments for tool "


class ErrorMasking:
    """Replaces the text of failures, those of `ToolError` and `RpcError` included, and logs it.

    Without it, clients see the text of these exceptions, and of no other. Errors of the protocol, about
    invalid arguments for example, stay as they are.

    Args:
        text: What the client gets instead, followed by the reference.
    """

    def __init__(self, text: str = "the request failed") -> None:
        self._text = text

    async def __call__(self, call: MiddlewareCall, next: Next[Result]) -> Result:
        try:
            result = await next(call)
        except Exception as error:
            if call.ending_of(error) is not Ending.FAILED:
                raise
            raise self._mask(call, error) from None
        if isinstance(result, ToolResult) and result.is_error:
            return self._mask_result(call, result)
        return result

    def _mask(self, call: MiddlewareCall, error: Exception) -> Exception:
        public = to_rpc_error(error, call.server_call, call.method)
        if public is None or public.code in PROTOCOL_ERRORS:
            return error
        reference = token_hex(4)
        logger.error("%s failed, reference %s: %s", title_of(call), reference, public.message, exc_info=error)
        return RpcError(public.code, self._masked(reference))

    def _mask_result(self, call: MiddlewareCall, result: ToolResult) -> ToolResult:
        texts = [block.text if isinstance(block, Text) else type(block).__name__ for block in result.content]
        if texts and texts[0].startswith(f"{BAD_ARGUMENTS}{call.name}: "):
            return result
        reference = token_hex(4)
        logger.error("%s failed, reference %s: %s", title_of(call), reference, " ".join(texts))
        return ToolResult([Text(self._masked(reference))], is_error=True)

    def _masked(self, reference: str) -> str:
        return f"{self._text} (reference {reference})"
