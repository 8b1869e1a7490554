"""Headers that repeat what a message says, and which tools ask for it as they may."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.lab.harness.driver.mirrored_header import mirror_headers, param_headers
from assay.revisions.revision import Revision

MARK: Final = "x-mcp-header"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TYPES: Final = ("string", "integer", "boolean")


def mirrored(revision: Revision, message: dict[str, Any], tools: Mapping[str, Any]) -> dict[str, str]:
    """Method, name and marked arguments of a message, in the revisions that want them."""
    if revision.http.mirrored is None or "method" not in message:
        return {}
    found = mirror_headers(revision, message)
    headers = {name: found[name] for name in ("Mcp-Method", "Mcp-Name")}
    kept = {name: value for name, value in headers.items() if value is not None}
    params = message.get("params")
    if message["method"] != "tools/call" or not isinstance(params, dict):
        return kept
    tool, arguments = tools.get(str(params.get("name"))), params.get("arguments")
    if isinstance(tool, dict) and isinstance(arguments, dict):
        kept |= param_headers(tool, arguments)
    return kept


def marking_problem(tool: dict[str, Any]) -> str | None:
    """Why a tool may not be offered over HTTP; none where its marks are good, or it has none."""
    good: list[str] = []
    schema = tool.get("inputSchema")
    for part in _reachable(schema):
        if MARK not in part:
            continue
        name = part[MARK]
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            return f"{name!r} is no name of a header"
        if part.get("type") not in _TYPES:
            return f"{name} marks a parameter of type {part.get('type')}"
        if name.lower() in good:
            return f"{name} is there twice"
        good.append(name.lower())
    return None if _marks(schema) == len(good) else "a mark where no parameter of the tool can be"


def _reachable(schema: Any) -> Iterator[dict[str, Any]]:
    """What can be reached from the root by names of properties only."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for part in properties.values() if isinstance(properties, dict) else ():
        if isinstance(part, dict):
            yield part
            yield from _reachable(part)


def _marks(value: Any, *, names: bool = False) -> int:
    """How many there are anywhere; a property that is named like a mark is none."""
    if isinstance(value, list):
        return sum(_marks(one) for one in value)
    if not isinstance(value, dict):
        return 0
    own = MARK in value and not names
    return own + sum(_marks(part, names=key == "properties" and not names) for key, part in value.items())
