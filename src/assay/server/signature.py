"""A handler's signature, as a type that arguments are decoded into."""

from __future__ import annotations

import copy
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin

import msgspec

from assay.model.error import RegistrationError

from .call import CallContext
from .dependency import context_in, dependency_in
from .docstring import parse
from .handler_check import check_context, check_function, check_kind
from .header import KEYWORD, Header
from .pattern import checked, without_patterns


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    annotation: Any
    default: Any
    description: str | None
    header: str | None = None
    """The HTTP header that repeats the value, in revisions with `x-mcp-header`."""

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Signature:
    """A handler's parameters without its context, its return type, and its docstring."""

    name: str
    description: str | None
    parameters: tuple[Parameter, ...]
    returns: Any
    context_name: str | None
    context_type: type[CallContext] | None
    takes_any: bool
    """Whether the function has `**kwargs`, and so accepts all arguments that a given schema allows."""
    dependencies: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Parameters that functions provide: see `Depends`."""

    def described(self) -> type[msgspec.Struct]:
        """A type with one field per parameter, to describe arguments by."""
        fields = [_field(parameter, parameter.annotation) for parameter in self.parameters]
        return msgspec.defstruct(self.name, fields, kw_only=True, forbid_unknown_fields=True)

    def reader(
        self, make: Callable[[type[msgspec.Struct]], Callable[[Any], msgspec.Struct]], *, closed: bool = True
    ) -> Callable[[Any], msgspec.Struct]:
        """Reads arguments into a struct with one field per parameter.

        Args:
            make: Makes the reader of a type.
            closed: Refuse arguments without a parameter, instead of ignoring them.

        Raises:
            RegistrationError: a class that a parameter consists of has a pattern.
        """
        plain = {parameter.name: self._without_patterns(parameter) for parameter in self.parameters}
        fields = [_field(parameter, plain[parameter.name]) for parameter in self.parameters]
        struct = msgspec.defstruct(self.name, fields, kw_only=True, forbid_unknown_fields=closed)
        patterned = [each for each in self.parameters if each.annotation is not plain[each.name]]
        annotations = {parameter.name: parameter.annotation for parameter in patterned}
        defaults = {parameter.name: parameter.default for parameter in patterned if not parameter.required}
        return checked(make(struct), annotations, defaults)

    def _without_patterns(self, parameter: Parameter) -> Any:
        try:
            return without_patterns(parameter.annotation)
        except RegistrationError as error:
            raise RegistrationError(f"{self.name}: parameter {parameter.name}: {error}") from None


def read_signature(function: Callable[..., Any], *, allow_any: bool = False) -> Signature:
    """
    Raises:
        RegistrationError: the function cannot be a handler, or a parameter cannot be passed by name.
    """
    name = _handler_name(function)
    check_function(function, name)
    hints = _hints(function, name)
    documentation = parse(inspect.getdoc(function) if inspect.isroutine(function) else None)
    parameters, dependencies, takes_any = [], {}, False
    context_name, context_type = None, None
    for parameter in inspect.signature(function).parameters.values():
        annotation = hints.get(parameter.name, Any)
        context = context_in(annotation)
        check_context(parameter, name, annotated=context is not None, earlier=context_name)
        if context is not None:
            context_name, context_type = parameter.name, context
        elif allow_any and parameter.kind is inspect.Parameter.VAR_KEYWORD:
            takes_any = True
        elif (dependency := dependency_in(parameter, annotation, name)) is not None:
            check_kind(parameter, name)
            dependencies[parameter.name] = dependency
        else:
            check_kind(parameter, name)
            description = documentation.parameters.get(parameter.name)
            parameters.append(_parameter(parameter, annotation, description))
    returns = hints.get("return", inspect.Parameter.empty)
    summary = documentation.summary or None
    filled = (context_name, context_type, takes_any, dependencies)
    return Signature(name, summary, tuple(parameters), returns, *filled)


def _handler_name(function: object) -> str:
    """The function's name; for a callable object, the name of its class."""
    if isinstance(function, functools.partial):
        return _handler_name(function.func)
    name: str = getattr(function, "__name__", "") or type(function).__name__
    return name


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    if isinstance(function, functools.partial):
        return _hints(function.func, name)
    target = function if inspect.isroutine(function) or inspect.isclass(function) else type(function).__call__
    try:
        return typing.get_type_hints(inspect.unwrap(target), include_extras=True)
    except NameError as error:
        fix = "import it where the function is defined, also at run time and not only under TYPE_CHECKING"
        raise RegistrationError(f"{name}: an annotation cannot be resolved: {error}: {fix}") from None


def _parameter(parameter: inspect.Parameter, annotation: Any, documented: str | None) -> Parameter:
    metadata: tuple[Any, ...] = ()
    if get_origin(annotation) is Annotated:
        annotation, *extras = get_args(annotation)
        metadata = tuple(extras)
    description = next((text for text in map(_description, metadata) if text), documented)
    constraints = tuple(extra for extra in metadata if isinstance(extra, msgspec.Meta))
    if constraints:
        annotation = Annotated[(annotation, *constraints)]
    header = next((extra.name for extra in metadata if isinstance(extra, Header)), None)
    return Parameter(parameter.name, annotation, parameter.default, description, header)


def _description(metadata: Any) -> str | None:
    """The description in an `Annotated`: a plain string, or the `description` of an object."""
    text = metadata if isinstance(metadata, str) else getattr(metadata, "description", None)
    return text if isinstance(text, str) else None


def _field(parameter: Parameter, annotation: Any) -> tuple[str, Any] | tuple[str, Any, Any]:
    if parameter.description:
        annotation = Annotated[annotation, msgspec.Meta(description=parameter.description)]
    if parameter.header is not None:
        annotation = Annotated[annotation, msgspec.Meta(extra_json_schema={KEYWORD: parameter.header})]
    if parameter.required:
        return parameter.name, annotation
    default = parameter.default
    if isinstance(default, list | dict | set | bytearray):
        return parameter.name, annotation, msgspec.field(default_factory=lambda: copy.deepcopy(default))
    return parameter.name, annotation, default


def accepted_arguments(arguments: Mapping[str, Any], signature: Signature) -> dict[str, Any]:
    """Of the arguments that a given schema allows, those that the function has parameters for."""
    if signature.takes_any:
        return dict(arguments)
    names = {parameter.name for parameter in signature.parameters}
    return {name: value for name, value in arguments.items() if name in names}
