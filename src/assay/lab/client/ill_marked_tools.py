"""One tool whose parameter is marked as it should be, and others whose marks no client may accept."""

from __future__ import annotations

from typing import Any, Final

VALID: Final = "valid_tool"
ARGUMENTS: Final = {"region": "us-west1"}
KEY: Final = "x-mcp-header"
Marked = dict[str, tuple[str, str]]
# By rule and tool: type and header of each parameter.
FAULTS: Final[dict[str, dict[str, Marked]]] = {
    "sep-2243-x-mcp-header-not-empty": {"invalid_empty_header": {"value": ("string", "")}},
    "sep-2243-x-mcp-header-primitive-only": {
        "invalid_object_header": {"data": ("object", "Data")},
        "invalid_array_header": {"items": ("array", "Items")},
        "invalid_null_header": {"nil": ("null", "Nil")},
        "invalid_number_header": {"score": ("number", "Score")},
    },
    "sep-2243-x-mcp-header-unique": {
        "invalid_duplicate_same_case": {"field1": ("string", "Region"), "field2": ("string", "Region")},
        "invalid_duplicate_diff_case": {"field1": ("string", "MyField"), "field2": ("string", "myfield")},
    },
    "sep-2243-x-mcp-header-charset": {
        "invalid_space_in_name": {"value": ("string", "My Region")},
        "invalid_colon_in_name": {"value": ("string", "Region:Primary")},
        "invalid_non_ascii_name": {"value": ("string", "Région")},
        "invalid_control_char_name": {"value": ("string", "Region\t1")},
    },
}
PLAUSIBLE: Final[dict[str, Any]] = {
    "string": "text",
    "object": {},
    "array": ["text"],
    "null": None,
    "number": 1.5,
}


def definition(name: str, marked: Marked) -> dict[str, Any]:
    properties = {key: {"type": kind, KEY: header} for key, (kind, header) in marked.items()}
    schema = {"type": "object", "properties": properties, "required": list(marked)}
    return {"name": name, "inputSchema": schema}


INVALID: Final = {name: marked for tools in FAULTS.values() for name, marked in tools.items()}
DEFINITIONS: Final = [
    definition(VALID, {"region": ("string", "Region")}),
    *(definition(name, marked) for name, marked in INVALID.items()),
]
CALLS: Final[dict[str, dict[str, Any]]] = {
    VALID: ARGUMENTS,
    **{
        name: {parameter: PLAUSIBLE[kind] for parameter, (kind, _) in marked.items()}
        for name, marked in INVALID.items()
    },
}
