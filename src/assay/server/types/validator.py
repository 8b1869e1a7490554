"""Validation against a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.model.error import RegistrationError

from .problem import one_line
from .self_union import READS_FOR_REASON, self_union

BACKTRACKING = 100_000
"""Steps that a pattern with look-around or back-references may take for one string, about a millisecond; a
string that needs more does not fit. Other patterns take linear time."""

MASK = "the value"


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
        self._self_union = self_union(schema, tagged=True)
        # A schema says only that there are secrets, not where in a message they are.
        mask = MASK if has_secret(schema) else None
        patterns = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKING)
        try:
            self._validator = jsonschema_rs.validator_for(
                dict(schema), retriever=refuse, pattern_options=patterns, mask=mask
            )
        except (ValueError, jsonschema_rs.ValidationError) as error:
            raise RegistrationError(f"invalid JSON Schema: {error}") from None

    def problem(self, value: Any) -> str | None:
        """Why a value is invalid, in one line; None if it is valid."""
        if self._self_union is not None and self._self_union.costs_more(value, READS_FOR_REASON):
            # The reason would list the problems of all members at each level.
            return None if self.fits(value) else "the value does not fit the schema - at `$`"
        try:
            self._validator.validate(value)
        except self._error as error:
            path = "".join(
                f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path
            )
            return f"{one_line(error.message)} - at `${path}`"
        return None

    def fits(self, value: Any) -> bool:
        """Whether a value is valid. This takes linear time, also where finding the reason does not."""
        return bool(self._validator.is_valid(value))


def has_secret(schema: Any) -> bool:
    """Whether a schema has a part that is never shown, such as pydantic's `SecretStr`."""
    if isinstance(schema, Mapping):
        return schema.get("writeOnly") is True or any(map(has_secret, schema.values()))
    return isinstance(schema, list) and any(map(has_secret, schema))
