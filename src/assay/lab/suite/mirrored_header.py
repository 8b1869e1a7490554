"""Headers that mirror values of the body: the standard ones, and those of `x-mcp-header` for arguments."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.links.http_text import Head
from assay.lab.harness.need import Need
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Call, Exchange
from assay.model.error import HEADER_MISMATCH
from assay.revisions.revision import Revision

VERSION: Final = "MCP-Protocol-Version"
METHOD: Final = "Mcp-Method"
NAME: Final = "Mcp-Name"
ENCODED: Final = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
MARKED: Final = re.compile(ENCODED.pattern, re.DOTALL | re.IGNORECASE)
KEYWORD: Final = "x-mcp-header"
MAX_DEPTH: Final = 32
# Keywords that hold schemas. All other members of a schema are data.
BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
IN_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
SINGLE: Final = (
    *("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
Path = tuple[str, ...]


class Annotation(Struct, frozen=True):
    """An `x-mcp-header` in the input schema of a tool."""

    value: Any
    path: Path
    """Names of properties from the root of the arguments."""
    schema: dict[str, Any]
    via: str = ""
    """The first keyword on the way from the root that is not `properties`, if any."""

    @property
    def header(self) -> str:
        return f"Mcp-Param-{self.value}"

    @property
    def types(self) -> tuple[Any, ...]:
        kind = self.schema.get("type")
        return tuple(kind) if isinstance(kind, list) else () if kind is None else (kind,)


def annotations_of(tool: dict[str, Any]) -> list[Annotation]:
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict):
        return []
    at_root = [Annotation(schema[KEYWORD], (), schema, via="the root")] if KEYWORD in schema else []
    return [*at_root, *_below(schema, (), "", 0)]


def _below(schema: dict[str, Any], path: Path, via: str, depth: int) -> Iterator[Annotation]:
    if depth > MAX_DEPTH:
        return
    for keyword, name, part in _parts(schema):
        step = via or ("" if keyword == "properties" else keyword)
        below = (*path, name) if keyword == "properties" else path
        if KEYWORD in part:
            yield Annotation(part[KEYWORD], below, part, step)
        yield from _below(part, below, step, depth + 1)


def _parts(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for keyword in BY_NAME:
        members = schema.get(keyword)
        for name, part in (members if isinstance(members, dict) else {}).items():
            if isinstance(part, dict):
                yield keyword, name, part
    for keyword in IN_LISTS:
        members = schema.get(keyword)
        for part in members if isinstance(members, list) else []:
            if isinstance(part, dict):
                yield keyword, "", part
    for keyword in SINGLE:
        if isinstance(part := schema.get(keyword), dict):
            yield keyword, "", part


def usable(tool: dict[str, Any]) -> list[Annotation]:
    """The annotations of top-level parameters, which the lab can set in a call."""
    return [mark for mark in annotations_of(tool) if _is_reachable(mark) and len(mark.path) == 1]


def _is_reachable(mark: Annotation) -> bool:
    return isinstance(mark.value, str) and not mark.via


A_HEADER = Need(
    lambda facts: any(annotations_of(tool) for tool in facts.tools), f"has no parameter with `{KEYWORD}`"
)
A_READ_ONLY_HEADER = Need(
    lambda facts: any(usable(tool) for tool in facts.callable_tools),
    f"has no tool that may be called with `{KEYWORD}` on a parameter",
)


class Flaw(Enum):
    MISSING = "missing"
    CHARACTERS = "characters that are not allowed in a header"
    DIFFERENT = "different from the body"


class Mirror(Struct, frozen=True):
    """A header with the value of the body that it mirrors."""

    header: str
    value: Any
    """The value in the body."""
    sent: str | None
    """The header as it was sent, or None."""
    spelled: str = ""
    """The name of the header as it was sent."""
    encodable: bool = True
    """Whether the header may be in Base64."""

    @property
    def flaw(self) -> Flaw | None:
        if self.sent is None:
            return Flaw.MISSING
        if not (self.sent.isascii() and self.sent.replace("\t", " ").isprintable()):
            return Flaw.CHARACTERS
        return None if self.decoded() == as_text(self.value) else Flaw.DIFFERENT

    @property
    def is_encoded(self) -> bool:
        return self.encodable and ENCODED.fullmatch(self.sent or "") is not None

    @property
    def has_odd_markers(self) -> bool:
        return not self.is_encoded and MARKED.fullmatch(self.sent or "") is not None

    @property
    def differs_in_case(self) -> bool:
        sent, value = self.sent or "", as_text(self.value)
        return sent != value and sent.lower() == value.lower()

    def decoded(self) -> str | None:
        """The header as text; None if it is not valid Base64."""
        sent = self.sent or ""
        encoded = ENCODED.fullmatch(sent) if self.encodable else None
        try:
            return sent if encoded is None else b64decode(encoded[1], validate=True).decode()
        except (binascii.Error, ValueError):
            return None


def as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_mismatch(call: Call) -> bool:
    """Whether a request was refused because of its headers."""
    return call.status == 400 and call.code == HEADER_MISMATCH


def request_of(call: Call) -> Message | None:
    """The request in the body of a POST, if it is the only message."""
    if len(call.request_messages) != 1 or call.head is None or call.sent.method != "POST":
        return None
    (message,) = call.request_messages
    return message if message.shape is Shape.REQUEST and message.place is None else None


def standard_mirrors(call: Call, revision: Revision) -> list[Mirror]:
    """The standard headers of a request; empty in revisions without mirrored headers."""
    message = request_of(call)
    if message is None or revision.http.mirrored is None:
        return []
    meta = message.params.get("_meta")
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    name = message.params.get(revision.http.mirrored.get(message.method, ""))
    return [
        _mirror(call.sent, header, value, encodable=header == NAME)
        for header, value in ((VERSION, version), (METHOD, message.method), (NAME, name))
        if isinstance(value, str)
    ]


def tools_in(listings: Iterable[Exchange]) -> dict[str, dict[str, Any]]:
    """The listed tools by name."""
    return {str(tool.get("name")): tool for listing in listings for tool in listing.objects("tools")}


def param_mirrors(call: Call, tools: Mapping[str, dict[str, Any]]) -> list[Mirror]:
    """The headers for the arguments of a call, by the definition of its tool."""
    message = request_of(call)
    if message is None or message.method != "tools/call":
        return []
    name = message.params.get("name")
    tool = tools.get(name) if isinstance(name, str) else None
    arguments = message.params.get("arguments")
    return [
        _mirror(call.sent, mark.header, _value_at(arguments, mark.path))
        for mark in annotations_of(tool or {})
        if _is_reachable(mark)
    ]


def _value_at(arguments: Any, path: Path) -> Any:
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, dict) else None
    return arguments


def _mirror(head: Head, header: str, value: Any, *, encodable: bool = True) -> Mirror:
    spelled = next((name for name, _ in head.headers if name.lower() == header.lower()), "")
    return Mirror(header, value, head.get(header), spelled, encodable)
