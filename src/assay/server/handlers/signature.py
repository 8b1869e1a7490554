"""A handler's signature, as a type that arguments are decoded into."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.model.error import RegistrationError
from assay.server.calls.call import CallContext

from .argument import ArgumentType
from .dependency import context_in, dependency_in
from .docstring import parse
from .handler_check import check_context, check_function, check_kind
from .parameter import Parameter, read_parameter


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

    def arguments(self) -> ArgumentType:
        """
        Raises:
            RegistrationError: the type of a parameter cannot be read.
        """
        return ArgumentType(self.name, self.parameters)


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
            parameters.append(_parameter(name, parameter, annotation, description))
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
        fix = "define or import it at the top of the module, and not only under TYPE_CHECKING"
        raise RegistrationError(f"{name}: an annotation cannot be resolved: {error}: {fix}") from None


def _parameter(name: str, parameter: inspect.Parameter, annotation: Any, documented: str | None) -> Parameter:
    try:
        return read_parameter(parameter, annotation, documented)
    except RegistrationError as error:
        raise RegistrationError(f"{name}: parameter {parameter.name}: {error}") from None


def accepted_arguments(arguments: Mapping[str, Any], signature: Signature) -> dict[str, Any]:
    """Of the arguments that a given schema allows, those that the function has parameters for."""
    if signature.takes_any:
        return dict(arguments)
    names = {parameter.name for parameter in signature.parameters}
    return {name: value for name, value in arguments.items() if name in names}
