"""Validation against a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.model.error import RegistrationError

from .problem import one_line

BACKTRACKING = 100_000
"""Steps that a pattern with look-around or back-references may take for one string, about a millisecond; a
string that needs more does not fit. Other patterns take linear time."""


class Validator:
    """A compiled JSON Schema. jsonschema-rs is imported when the first one is created.

    References are resolved within the schema only: nothing is ever fetched.

    Raises:
        RegistrationError: the schema itself is invalid, or refers outside itself.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        import jsonschema_rs

        def refuse(uri: str) -> Any:
            raise ValueError(f"not fetched: {uri}")

        self._error = jsonschema_rs.ValidationError
        patterns = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKING)
        try:
            self._validator = jsonschema_rs.validator_for(
                dict(schema), retriever=refuse, pattern_options=patterns
            )
        except (ValueError, jsonschema_rs.ValidationError) as error:
            raise RegistrationError(f"invalid JSON Schema: {error}") from None

    def problem(self, value: Any) -> str | None:
        """Why a value is invalid, in one line; None if it is valid."""
        try:
            self._validator.validate(value)
        except self._error as error:
            path = "".join(
                f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path
            )
            return f"{one_line(error.message)} - at `${path}`"
        return None
