"""Tools: functions that the client's model may call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from assay.model.app import ToolUi, read_tool_ui, with_ui
from assay.model.content import Icon, Text
from assay.model.definition import ToolAnnotations, ToolDefinition
from assay.model.error import INVALID_PARAMS, AskError, RegistrationError, RpcError, ToolError
from assay.model.result import ToolResult
from assay.model.task import Mode, TaskOptions
from assay.protocol.http.mirror import check_name
from assay.revisions.revision import BadArguments, Revision, Structured, TaskForm
from assay.server.calls.call import Call, TimedOut
from assay.server.dispatch.failure import log_fault, tool_failure, unwrap
from assay.server.handlers.concurrency import ConcurrencyLimit
from assay.server.handlers.header import check_headers, mirrored_parameters
from assay.server.handlers.injection import make_invocable
from assay.server.handlers.invocation import Invocable, Pending
from assay.server.handlers.signature import Signature, accepted_arguments, read_signature
from assay.server.results.bad_output import BadOutput
from assay.server.results.library_value import adapting
from assay.server.results.output import Output
from assay.server.results.shape import shape_result
from assay.server.types.problem import one_line
from assay.server.types.reading import AS_JSON
from assay.server.types.schema import schema_of
from assay.server.types.validator import Validator

from .required_scope import read_scopes
from .tag import read_tags, with_tags

asdict = msgspec.structs.asdict


class Arguments(Protocol):
    """Decodes the raw arguments of a call; raises `ValueError` with a public message."""

    schema: Mapping[str, Any]

    def read(self, raw: Raw) -> dict[str, Any]: ...


class TypedArguments:
    """Arguments described by the function's signature."""

    __slots__ = ("_decode", "schema")

    def __init__(self, signature: Signature) -> None:
        arguments = signature.arguments()
        self.schema: Mapping[str, Any] = _argument_schema(arguments.described(), signature.name)
        self._decode = arguments.reader(AS_JSON)

    def read(self, raw: Raw) -> dict[str, Any]:
        return asdict(self._decode(raw))


class SchemaArguments:
    """Arguments described by a given JSON Schema. The function receives plain JSON values."""

    __slots__ = ("_defaults", "_signature", "_validator", "schema")

    def __init__(self, schema: Mapping[str, Any], signature: Signature) -> None:
        if schema.get("type") != "object":
            problem = f'{signature.name}: an input schema must have "type": "object" at its root'
            raise RegistrationError(f"{problem}: arguments have names")
        self.schema = schema
        self._signature = signature
        self._validator = Validator(schema)
        self._defaults = [each for each in signature.parameters if each.has_field_default]

    def read(self, raw: Raw) -> dict[str, Any]:
        arguments = msgspec.json.decode(raw)
        problem = self._validator.problem(arguments)
        if problem is not None:
            raise ValueError(problem)
        accepted = accepted_arguments(arguments, self._signature)
        for parameter in self._defaults:
            if parameter.name not in accepted and not parameter.required:
                accepted[parameter.name] = parameter.fresh_default
        return accepted


def _argument_schema(struct: type[msgspec.Struct], name: str) -> dict[str, Any]:
    try:
        schema = schema_of(struct)
    except RegistrationError as error:
        raise RegistrationError(f"tool {name}: {error}") from None
    schema.pop("title", None)
    if not schema.get("required"):
        schema.pop("required", None)
    return schema


class Tool:
    """A registered tool."""

    __slots__ = (
        "_arguments",
        "_invoke",
        "_mirrored",
        "_output",
        "definition",
        "scopes",
        "tags",
        "task",
        "ui",
        "unwrapped_definition",
    )

    def __init__(
        self, definition: ToolDefinition, arguments: Arguments, invoke: Invocable, output: Output
    ) -> None:
        self.definition = definition
        self.unwrapped_definition = definition
        """The definition for revisions whose structured content may be any value, not only an object."""
        if output.unwrapped_schema is not output.schema:
            self.unwrapped_definition = msgspec.structs.replace(
                definition, output_schema=output.unwrapped_schema
            )
        self._arguments = arguments
        self._invoke = invoke
        self._output = output
        self.scopes: tuple[str, ...] = ()
        self.tags: frozenset[str] = frozenset()
        self.task: TaskOptions | None = None
        """How it runs as a task; None if it never does."""
        self.ui: ToolUi | None = None
        """Its page; None if it has none."""
        self._mirrored = mirrored_parameters(arguments.schema, definition.name)

    @property
    def key(self) -> str:
        return self.definition.name

    def is_callable_in(self, revision: Revision) -> bool:
        """Whether clients of a revision can call it: a revision may lack the tasks that it runs as."""
        return revision.tasks is not TaskForm.ABSENT or self.task is None or self.task.mode != "required"

    def definition_for(self, revision: Revision) -> ToolDefinition:
        if self.task is not None and revision.tasks is TaskForm.CORE:
            support = "required" if self.task.mode == "required" else "optional"
            return msgspec.structs.replace(self.definition, execution={"taskSupport": support})
        return self.unwrapped_definition if revision.structured is Structured.ANY else self.definition

    def check_mirrors(self, raw: Raw, call: Call) -> None:
        """Compare headers with the arguments, for a call that is answered before its handler runs.

        Raises:
            RpcError: one differs or is missing.
        """
        if call.scope.mirrors is not None:
            check_name(call.scope.mirrors, self.key)
        if self._mirrored and call.peer.revision.http.mirrored is not None and call.scope.transport == "http":
            check_headers(self._mirrored, raw, call.scope.raw_headers)

    async def call(self, raw: Raw, call: Call) -> ToolResult:
        revision = call.peer.revision
        if self._mirrored and revision.http.mirrored is not None and call.scope.transport == "http":
            check_headers(self._mirrored, raw, call.scope.raw_headers)
        try:
            arguments = self._arguments.read(raw)
        except (ValueError, RecursionError) as error:
            if bytes(raw) == b"null":
                return await self.call(Raw(b"{}"), call)
            return self._bad_arguments(error, call)
        try:
            value = self._invoke.begin(arguments, call)
            if type(value) is Pending:
                value = await value.outcome
            result = self._output.result(value, revision.structured)
        except Exception as error:
            result = self._failed(unwrap(error), call)
        return shape_result(result, revision)

    def _bad_arguments(self, error: Exception, call: Call) -> ToolResult:
        text = f"invalid arguments for tool {self.key}: {one_line(str(error))}"
        if call.peer.revision.bad_arguments is BadArguments.RPC_ERROR:
            raise RpcError(INVALID_PARAMS, text)
        return ToolResult([Text(text)], is_error=True)

    def _failed(self, error: BaseException, call: Call) -> ToolResult:
        """The error result for an exception; re-raises exceptions that are answered with a JSON-RPC error."""
        if isinstance(error, RpcError) or (call.ended is not None and not isinstance(error, TimedOut)):
            try:
                raise error
            finally:
                del error  # its traceback refers to this frame
        if isinstance(error, ToolError | AskError):
            return ToolResult([Text(str(error))], is_error=True)
        if isinstance(error, TimedOut):
            return ToolResult([Text(f"tool {self.key} timed out: {error}")], is_error=True)
        if isinstance(error, BadOutput):
            return self._bad_output(error, call)
        return ToolResult([Text(tool_failure(self.key, error, call))], is_error=True)

    def _bad_output(self, error: BadOutput, call: Call) -> ToolResult:
        text = str(error.named(f"tool {self.key!r}"))
        log_fault(text)
        if not call.services.server.debug:
            text = f"tool {self.key} failed: internal error"
        return ToolResult([Text(text)], is_error=True)


def make_tool(
    function: Callable[..., Any],
    *,
    limits: tuple[ConcurrencyLimit, ...],
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    annotations: ToolAnnotations | Mapping[str, Any] | None = None,
    icons: list[Icon] | None = None,
    meta: dict[str, Any] | None = None,
    scopes: Sequence[str] = (),
    tags: Collection[str] = (),
    task: Mode | TaskOptions | None = None,
    ui: str | ToolUi | None = None,
) -> Tool:
    signature = read_signature(function, allow_any=input_schema is not None)
    tool_name = signature.name if name is None else name
    check_tool_name(tool_name)
    words = read_tags(tags, f"tool {tool_name}")
    arguments: Arguments = (
        TypedArguments(signature) if input_schema is None else SchemaArguments(input_schema, signature)
    )
    output = _read_output(signature, output_schema, tool_name)
    definition = ToolDefinition(
        name=tool_name,
        title=title,
        description=description or signature.description,
        input_schema=arguments.schema,
        output_schema=output.schema,
        annotations=read_annotations(annotations, tool_name),
        icons=icons,
        meta=with_tags(meta, words, f"tool {tool_name}"),
    )
    invoke = make_invocable(function, signature, limits)
    if output.adapts and not invoke.is_async:
        invoke.function = adapting(function)
    page = read_tool_ui(ui, tool_name)
    tool = Tool(with_ui(definition, page), arguments, invoke, output)
    tool.scopes, tool.tags = read_scopes(scopes, f"tool {tool_name}"), words
    tool.task, tool.ui = read_task(task, tool_name), page
    return tool


def _read_output(signature: Signature, output_schema: Mapping[str, Any] | None, tool: str) -> Output:
    try:
        return Output(signature.returns, output_schema)
    except RegistrationError as error:
        place = "" if output_schema is not None else "return type: "
        raise RegistrationError(f"tool {tool}: {place}{error}") from None


def read_task(task: Mode | TaskOptions | None, name: str) -> TaskOptions | None:
    try:
        return TaskOptions(task) if isinstance(task, str) else task
    except ValueError as error:
        raise RegistrationError(f"tool {name}: {error}") from None


def check_tool_name(name: str) -> None:
    """1 to 128 of `A-Za-z0-9_.-` (server/tools#tool-names): clients may drop tools with other names."""
    plain = name.replace("_", "").replace(".", "").replace("-", "")
    if not 1 <= len(name) <= 128 or not name.isascii() or (plain and not plain.isalnum()):
        raise RegistrationError(
            f"{name!r} is not a tool name: write 1 to 128 letters, digits, underscores, dots or hyphens"
            ', such as @server.tool(name="get_weather")'
        )


def read_annotations(
    annotations: ToolAnnotations | Mapping[str, Any] | None, name: str
) -> ToolAnnotations | None:
    if annotations is None or isinstance(annotations, ToolAnnotations):
        return annotations
    try:
        return msgspec.convert(dict(annotations), ToolAnnotations)
    except msgspec.ValidationError as error:
        raise RegistrationError(f"tool {name}: bad annotations: {error}") from None
