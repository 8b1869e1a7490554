"""Tools whose parameters are marked with `x-mcp-header`, and the calls that a client is asked to make."""

from __future__ import annotations

from typing import Any, Final

MANY: Final = "test_custom_headers"
FEW: Final = "test_custom_headers_null"
# By parameter: its type, its header if it has one, and the value in the call.
PARAMETERS: Final[dict[str, tuple[str, str | None, Any]]] = {
    "region": ("string", "Region", "us-west1"),
    "priority": ("integer", "Priority", 42),
    "verbose": ("boolean", "Verbose", False),
    "debug": ("boolean", "Debug", True),
    "empty_val": ("string", "EmptyVal", ""),
    "method_val": ("string", "Method", "test-method"),
    "float_val": ("number", None, 3.14159),
    "non_ascii_val": ("string", "NonAscii", "Hello, 世界"),
    "whitespace_val": ("string", "Whitespace", " padded "),
    "leading_space_val": ("string", "LeadingSpace", " us-west1"),
    "trailing_space_val": ("string", "TrailingSpace", "us-west1 "),
    "internal_space_val": ("string", "InternalSpace", "us west 1"),
    "control_char_val": ("string", "ControlChar", "line1\nline2"),
    "crlf_val": ("string", "CrLf", "line1\r\nline2"),
    "tab_val": ("string", "Tab", "\tindented"),
    "query": ("string", None, "SELECT * FROM users"),
}
NULLED: Final = {"region": "us-east1", "priority": 1, "verbose": None, "query": "SELECT 1"}


def _property(name: str) -> dict[str, Any]:
    kind, header, _ = PARAMETERS[name]
    return {"type": kind} | ({} if header is None else {"x-mcp-header": header})


def _tool(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    properties = {parameter: _property(parameter) for parameter in parameters}
    required = ["region", "priority", "query"]
    return {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": required}}


CALLS: Final = {MANY: {name: value for name, (_, _, value) in PARAMETERS.items()}, FEW: NULLED}
TOOLS: Final = {name: _tool(name, arguments) for name, arguments in CALLS.items()}
