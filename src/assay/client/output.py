"""Results of tools, checked against the schemas that the server lists for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from assay.model.client_error import InvalidAnswer
from assay.model.client_limits import ClientLimits
from assay.model.definition import ToolDefinition
from assay.model.notice import Change
from assay.model.result import ToolResult

MOST_EVALUATIONS: Final = 3_000_000
"""Parts of a schema that one check may evaluate: about a tenth of a second."""
BYTES_OF_A_NODE: Final = 2
"""The least that a value takes in a message, with its comma."""
BACKTRACKING: Final = 10_000
"""Steps of a pattern with look-around for one string. Other patterns take linear time."""
PATTERN_BYTES: Final = 512 * 1024
MESSAGE_CHARACTERS: Final = 300


class Outputs:
    """The output schemas of a list of tools. Each is compiled when the tool is first called."""

    def __init__(self, limits: ClientLimits) -> None:
        self._limits = limits
        self.schemas: dict[str, Any] = {}
        self._checks: dict[str, OutputCheck] = {}

    def learn(self, tools: Iterable[ToolDefinition]) -> None:
        """Use the schemas of this list, instead of those of an earlier one."""
        self._checks = {}
        self.schemas = {tool.name: tool.output_schema for tool in tools if tool.output_schema is not None}

    def observe(self, change: Change) -> None:
        """After a change of the list, nothing is known of the tools until it is read again."""
        if change.kind == "tools":
            self.learn(())

    def check(self, tool: str, result: ToolResult, size: int) -> None:
        """
        Args:
            tool: The tool that was called.
            result: What it returned.
            size: The bytes of its message.

        Raises:
            InvalidAnswer: the result does not fit the tool's schema, or this schema cannot be used.
        """
        schema = self.schemas.get(tool)
        if schema is None or result.is_error:
            return
        check = self._checks.get(tool)
        if check is None:
            check = self._checks[tool] = OutputCheck(tool, schema, self._limits)
        check.apply(result.structured, size)


class OutputCheck:
    """One compiled schema. References are resolved within it: nothing is ever fetched.

    Raises:
        InvalidAnswer: the schema cannot be used.
    """

    def __init__(self, tool: str, schema: Any, limits: ClientLimits) -> None:
        import jsonschema_rs

        from .schema_cost import SchemaCost, UnboundedSchema

        self._tool = tool
        size = len(msgspec.json.encode(schema))
        if size > limits.schema_bytes:
            raise self._unusable(f"it has {size} bytes, the limit schema_bytes is {limits.schema_bytes}")
        patterns = jsonschema_rs.FancyRegexOptions(BACKTRACKING, PATTERN_BYTES, PATTERN_BYTES)
        try:
            self._cost = SchemaCost(schema)
            self._per_node = self._cost.per_node(limits.depth)
            self._validator = jsonschema_rs.validator_for(
                schema, retriever=_refuse, pattern_options=patterns, validate_formats=False
            )
        except (UnboundedSchema, jsonschema_rs.ValidationError, ValueError, RecursionError) as error:
            raise self._unusable(getattr(error, "message", None) or str(error)) from None
        self._error = jsonschema_rs.ValidationError

    def apply(self, value: Any, size: int) -> None:
        """
        Raises:
            InvalidAnswer: the value does not fit, or the check would take too long.
        """
        counts: list[int] | None = None
        if size / BYTES_OF_A_NODE * self._per_node > MOST_EVALUATIONS:
            from .schema_cost import count_nodes

            counts = count_nodes(value)
            if self._cost.at_most(counts) > MOST_EVALUATIONS:
                raise self._unusable("to check this result would take too long")
        if not self._validator.is_valid(value):
            raise self._misfit(value, counts)

    def _misfit(self, value: Any, counts: list[int] | None) -> InvalidAnswer:
        if value is None:
            return InvalidAnswer(
                f"tool {self._tool} has an output schema, but its result has no structured content"
            )
        return InvalidAnswer(
            f"the result of tool {self._tool} does not fit its output schema: {self._reason(value, counts)}"
        )

    def _reason(self, value: Any, counts: list[int] | None) -> str:
        from assay.model.visible import visible

        from .schema_cost import count_nodes

        if self._cost.at_most(counts or count_nodes(value), explained=True) > MOST_EVALUATIONS:
            return "the reason would take too long to find"
        try:
            self._validator.validate(value)
        except self._error as error:
            path = "".join(
                f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path
            )
            return f"at ${visible(path)}: {visible(_cut(error.message))}"
        return "unknown"

    def _unusable(self, reason: str) -> InvalidAnswer:
        from assay.model.visible import visible

        return InvalidAnswer(
            f"the output schema of tool {visible(self._tool)} cannot be used: {visible(_cut(reason))}; "
            "Client(…, check_output=False) leaves results unchecked"
        )


def _refuse(uri: str) -> Any:
    raise ValueError(f"not fetched: {uri}")


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[:MESSAGE_CHARACTERS]}…"
