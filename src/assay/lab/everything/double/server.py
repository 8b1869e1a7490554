"""How a double answers in the place of the server that it is put before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from assay.lab.harness import FaultContext, Json
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.driver.mirrored_header import as_header
from assay.lab.harness.sabotage.saboteur import LocalAnswer, OnRequest
from assay.model.error import HEADER_MISMATCH


class Asked(Struct):
    """A request of the driver, as the handler of its method sees it."""

    message: Json
    context: FaultContext

    @property
    def method(self) -> str:
        return str(self.message.get("method"))

    @property
    def params(self) -> Json:
        return _object(self.message.get("params"))

    @property
    def describes_itself(self) -> bool:
        """Whether it is a request of a revision where every request declares its client."""
        return "id" in self.message and CAPABILITIES_KEY in _object(self.params.get("_meta"))

    def declares(self, extension: str) -> bool:
        capabilities = _object(_object(self.params.get("_meta")).get(CAPABILITIES_KEY))
        return extension in _object(capabilities.get("extensions"))


class Refused(Exception):
    """What a handler raises to answer with an error."""

    def __init__(self, code: int, message: str, data: Any = None, status: int | None = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        self.status = status


Handler = Callable[[Asked], Json | None]
"""Returns the result, or none to leave the request to the server."""


def answering(handlers: Mapping[str, Handler]) -> OnRequest:
    """The hook that answers these methods."""

    def request(message: Json, context: FaultContext) -> Json | LocalAnswer:
        asked = Asked(message, context)
        handler = handlers.get(asked.method) if asked.describes_itself else None
        reply = {"jsonrpc": "2.0", "id": message.get("id")}
        try:
            result = None if handler is None else handler(asked)
        except Refused as refused:
            return LocalAnswer([{**reply, "error": refused.error}], refused.status)
        return message if result is None else LocalAnswer([{**reply, "result": result}])

    return request


def check_headers(asked: Asked, name: Any) -> None:
    """On HTTP, the method and the name are said twice.

    Raises:
        Refused: and not the same.
    """
    if asked.context.call is None:
        return
    for header, said in (("Mcp-Method", asked.method), ("Mcp-Name", as_header(str(name)))):
        if asked.context.call.header(header) != said:
            raise Refused(HEADER_MISMATCH, f"{header} is not {said}", status=400)


def extended(
    reply: Json, context: FaultContext, name: str, settings: Json, items: Mapping[str, list[Json]]
) -> Json:
    """What a server says that has this extension: discovery declares it, and lists have more items."""
    if "result" not in reply:
        return reply
    if context.method == "server/discover":
        return with_extension(reply, name, settings)
    key = context.method.removesuffix("/list")
    lists = key in items and Asked(context.request or {}, context).describes_itself
    return with_items(reply, key, items[key]) if lists else reply


def with_extension(reply: Json, name: str, settings: Json) -> Json:
    """The answer to `server/discover`, with one more extension in it."""
    capabilities = reply["result"]["capabilities"]
    extensions = {**capabilities.get("extensions", {}), name: settings}
    result = {**reply["result"], "capabilities": {**capabilities, "extensions": extensions}}
    return {**reply, "result": result}


def with_items(reply: Json, key: str, items: list[Json]) -> Json:
    """The last page of a list, with more at its end; any other page as it is."""
    if "nextCursor" in reply["result"]:
        return reply
    return {**reply, "result": {**reply["result"], key: [*reply["result"][key], *items]}}


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
