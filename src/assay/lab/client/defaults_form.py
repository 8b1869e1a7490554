"""A form whose every field has a default, and what each field should hold when it is left alone."""

from __future__ import annotations

from typing import Any, Final

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "name": {"type": "string", "description": "User name", "default": "John Doe"},
    "age": {"type": "integer", "description": "User age", "default": 30},
    "score": {"type": "number", "description": "User score", "default": 95.5},
    "status": {
        "type": "string",
        "description": "User status",
        "enum": ["active", "inactive", "pending"],
        "default": "active",
    },
    "verified": {"type": "boolean", "description": "Verification status", "default": True},
}
FORM: Final = {"type": "object", "properties": FIELDS, "required": []}
MESSAGE: Final = "Test client default value handling - please accept with defaults"
