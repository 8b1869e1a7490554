"""Headers that repeat a body, as evidence: what each should say, what it says, and what is wrong with it."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.links.http_text import Head
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Call, Exchange
from assay.model.error import HEADER_MISMATCH
from assay.revisions.revision import Revision

from .header_annotation import Annotation, annotations_of, value_at

VERSION: Final = "MCP-Protocol-Version"
METHOD: Final = "Mcp-Method"
NAME: Final = "Mcp-Name"
ENCODED: Final = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
MARKED: Final = re.compile(ENCODED.pattern, re.DOTALL | re.IGNORECASE)


class Flaw(Enum):
    MISSING = "missing"
    CHARACTERS = "characters that no header may hold"
    DIFFERENT = "different from the body"


class Mirror(Struct, frozen=True):
    header: str
    told: Any
    """What the body says."""
    given: str | None
    """What the header says, as it was sent; none where there is none."""
    spelled: str = ""
    """Its name as it was sent."""
    encodable: bool = True
    """Whether its value may be in Base64."""

    @property
    def flaw(self) -> Flaw | None:
        if self.given is None:
            return Flaw.MISSING
        if not (self.given.isascii() and self.given.replace("\t", " ").isprintable()):
            return Flaw.CHARACTERS
        return None if self.read() == as_text(self.told) else Flaw.DIFFERENT

    @property
    def is_encoded(self) -> bool:
        return self.encodable and ENCODED.fullmatch(self.given or "") is not None

    @property
    def has_odd_markers(self) -> bool:
        return not self.is_encoded and MARKED.fullmatch(self.given or "") is not None

    @property
    def differs_in_case(self) -> bool:
        given, told = self.given or "", as_text(self.told)
        return given != told and given.lower() == told.lower()

    def read(self) -> str | None:
        given = self.given or ""
        found = ENCODED.fullmatch(given) if self.encodable else None
        try:
            return given if found is None else b64decode(found[1], validate=True).decode()
        except (binascii.Error, ValueError):
            return None


def as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_mismatch(call: Call) -> bool:
    """Whether a request was refused because of its headers, as such a refusal must look."""
    return call.status == 400 and call.code == HEADER_MISMATCH


def asked(call: Call) -> Message | None:
    """The one request that a POST carried."""
    if len(call.asked) != 1 or call.head is None or call.sent.method != "POST":
        return None
    (only,) = call.asked
    return only if only.shape is Shape.REQUEST and only.place is None else None


def standard_mirrors(call: Call, revision: Revision) -> list[Mirror]:
    """The headers that a request should have; none in revisions that want none."""
    message = asked(call)
    if message is None or revision.http.mirrored is None:
        return []
    meta = message.params.get("_meta")
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    name = message.params.get(revision.http.mirrored.get(message.method, ""))
    wanted = ((VERSION, version), (METHOD, message.method), (NAME, name))
    return [
        _mirror(call.sent, header, told, encodable=header == NAME)
        for header, told in wanted
        if isinstance(told, str)
    ]


def tools_in(listings: Iterable[Exchange]) -> dict[str, dict[str, Any]]:
    """Every tool that was listed, by its name."""
    return {str(tool.get("name")): tool for one in listings for tool in one.objects("tools")}


def param_mirrors(call: Call, tools: Mapping[str, dict[str, Any]]) -> list[tuple[Annotation, Mirror]]:
    """The headers of a call's arguments, by the definition of its tool."""
    message = asked(call)
    if message is None or message.method != "tools/call":
        return []
    name = message.params.get("name")
    tool = tools.get(name) if isinstance(name, str) else None
    marked = [one for one in annotations_of(tool or {}) if isinstance(one.value, str) and not one.via]
    arguments = message.params.get("arguments")
    return [(one, _mirror(call.sent, one.header, value_at(arguments, one.path))) for one in marked]


def _mirror(head: Head, header: str, told: Any, *, encodable: bool = True) -> Mirror:
    spelled = next((name for name, _ in head.headers if name.lower() == header.lower()), "")
    return Mirror(header, told, head.get(header), spelled, encodable)
