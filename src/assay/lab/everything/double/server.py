"""How a double answers requests in place of the server behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from assay.lab.harness import FaultContext, Json, result_reply
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, as_header
from assay.lab.harness.sabotage.saboteur import LocalAnswer, OnRequest
from assay.lab.suite.self_description import as_object
from assay.model.error import HEADER_MISMATCH


class DoubleRequest(Struct):
    """A request of the driver, for the handler of its method."""

    message: Json
    context: FaultContext

    @property
    def method(self) -> str:
        return str(self.message.get("method"))

    @property
    def params(self) -> Json:
        return as_object(self.message.get("params"))

    @property
    def describes_itself(self) -> bool:
        """Whether it is a request of a revision in which every request declares its client."""
        return "id" in self.message and CAPABILITIES_KEY in as_object(self.params.get("_meta"))

    def declares(self, extension: str) -> bool:
        capabilities = as_object(as_object(self.params.get("_meta")).get(CAPABILITIES_KEY))
        return extension in as_object(capabilities.get("extensions"))


class ErrorReply(Exception):
    """Raised by a handler to answer with an error."""

    def __init__(self, code: int, message: str, data: Any = None, status: int | None = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        self.status = status


Handler = Callable[[DoubleRequest], Json | None]
"""Returns the result, or None to leave the request to the server."""


def answering(handlers: Mapping[str, Handler]) -> OnRequest:
    """The hook that answers these methods."""

    def answer(message: Json, context: FaultContext) -> Json | LocalAnswer:
        request = DoubleRequest(message, context)
        handler = handlers.get(request.method) if request.describes_itself else None
        try:
            result = None if handler is None else handler(request)
        except ErrorReply as reply:
            return LocalAnswer(
                [{"jsonrpc": "2.0", "id": message.get("id"), "error": reply.error}], reply.status
            )
        return message if result is None else LocalAnswer([result_reply(message, result)])

    return answer


def check_headers(request: DoubleRequest, name: Any) -> None:
    """On HTTP, headers repeat the method and the name.

    Raises:
        ErrorReply: a header differs from the body.
    """
    if request.context.call is None:
        return
    for header, expected in (("Mcp-Method", request.method), ("Mcp-Name", as_header(str(name)))):
        if request.context.call.header(header) != expected:
            raise ErrorReply(HEADER_MISMATCH, f"{header} is not {expected}", status=400)


def extended(
    reply: Json, context: FaultContext, name: str, settings: Json, items: Mapping[str, list[Json]]
) -> Json:
    """The reply of a server with this extension: discovery declares it, and lists have more items."""
    if "result" not in reply:
        return reply
    result = reply["result"]
    if context.method == "server/discover":
        capabilities = result["capabilities"]
        extensions = {**capabilities.get("extensions", {}), name: settings}
        return {**reply, "result": {**result, "capabilities": {**capabilities, "extensions": extensions}}}
    key = context.method.removesuffix("/list")
    lists = key in items and DoubleRequest(context.request or {}, context).describes_itself
    if not lists or "nextCursor" in result:  # only the last page gets more items
        return reply
    return {**reply, "result": {**result, key: [*result[key], *items[key]]}}
