"""Headers that mirror a message, and the validity of the `x-mcp-header` marks of tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.lab.harness.driver.message_meta import mirror_headers, param_headers
from assay.revisions.revision import Revision

MARK: Final = "x-mcp-header"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TYPES: Final = ("string", "integer", "boolean")


def mirrored(revision: Revision, message: dict[str, Any], tools: Mapping[str, Any]) -> dict[str, str]:
    """Headers for the method, the name and the marked arguments, in revisions that mirror them."""
    if revision.http.mirrored is None or "method" not in message:
        return {}
    values = mirror_headers(revision, message)
    headers = {name: value for name in ("Mcp-Method", "Mcp-Name") if (value := values[name]) is not None}
    params = message.get("params")
    if message["method"] != "tools/call" or not isinstance(params, dict):
        return headers
    tool, arguments = tools.get(str(params.get("name"))), params.get("arguments")
    if isinstance(tool, dict) and isinstance(arguments, dict):
        headers |= param_headers(tool, arguments)
    return headers


def marking_problem(tool: dict[str, Any]) -> str | None:
    """Why the marks of a tool are invalid, or None."""
    valid: list[str] = []
    schema = tool.get("inputSchema")
    for part in _reachable(schema):
        if MARK not in part:
            continue
        name = part[MARK]
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            return f"{name!r} is not a valid header name"
        if part.get("type") not in _TYPES:
            return f"{name} marks a parameter of type {part.get('type')}"
        if name.lower() in valid:
            return f"{name} is used twice"
        valid.append(name.lower())
    return None if _marks(schema) == len(valid) else "a mark is not on a property of the schema"


def _reachable(schema: Any) -> Iterator[dict[str, Any]]:
    """The subschemas that are reachable from the root through `properties` only."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for part in properties.values() if isinstance(properties, dict) else ():
        if isinstance(part, dict):
            yield part
            yield from _reachable(part)


def _marks(value: Any, *, names: bool = False) -> int:
    """The number of marks in the whole schema; a property that is called `x-mcp-header` is not a mark."""
    if isinstance(value, list):
        return sum(map(_marks, value))
    if not isinstance(value, dict):
        return 0
    own = MARK in value and not names
    return own + sum(_marks(part, names=key == "properties" and not names) for key, part in value.items())
