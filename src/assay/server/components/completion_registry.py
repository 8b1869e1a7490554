"""The completions of a server's prompts and resource templates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.model.error import INVALID_PARAMS, RegistrationError, RpcError
from assay.model.result import Completion
from assay.server.calls.call import Call
from assay.server.handlers.concurrency import ConcurrencyLimit

from .completer import Completer, choices, rank_and_cut
from .prompt import Prompt
from .prompt_registry import Prompts
from .resource import Resource
from .resource_registry import Resources


class Completions:
    """Completers by prompt name or URI template, and argument."""

    def __init__(self, prompts: Prompts, resources: Resources, limit: ConcurrencyLimit) -> None:
        self._prompts = prompts
        self._resources = resources
        self._limit = limit
        self._completers: dict[tuple[str, str], tuple[Prompt | Resource, Completer]] = {}

    def __bool__(self) -> bool:
        return bool(self._completers) or any(self._choices(prompt.key) for prompt in self._prompts.registry)

    def add(self, target: str, argument: str, function: Callable[..., Any]) -> None:
        """
        Raises:
            RegistrationError: the target has no such argument, or the argument has a completion already.
        """
        known = self._arguments(target)
        if known is None:
            problem = f"completion for {target!r}: no such prompt or resource template"
            raise RegistrationError(f"{problem}: register that first, and name it as it is registered")
        if argument not in known:
            choice = f"choose from {', '.join(known)}" if known else "it has no arguments"
            raise RegistrationError(f"completion for {target!r}: it has no argument {argument!r}: {choice}")
        if self._find(target, argument) is not None:
            raise RegistrationError(f"completion for {target!r}: argument {argument!r} has one already")
        component = self._component(target)
        assert component is not None
        self._completers[target, argument] = component, Completer(function, (self._limit,))

    async def complete(
        self, target: str, argument: str, value: str, others: dict[str, str], call: Call
    ) -> Completion:
        known = self._arguments(target)
        component = self._component(target)
        if known is None or component is None:
            raise RpcError(INVALID_PARAMS, f"unknown prompt or resource template: {target}")
        if argument not in known:
            raise RpcError(INVALID_PARAMS, f"{target} has no argument {argument}")
        call.require(component.scopes)
        completer = self._find(target, argument)
        if completer is not None:
            return await completer.complete(value, others, call)
        return rank_and_cut(value, self._choices(target).get(argument, []))

    def _component(self, target: str) -> Prompt | Resource | None:
        return self._prompts.registry.get(target) or self._resources.template_registry.get(target)

    def _find(self, target: str, argument: str) -> Completer | None:
        component, completer = self._completers.get((target, argument), (None, None))
        # A completion belongs to the component it was registered for, not to one that took its name later.
        return completer if component is self._component(target) else None

    def _arguments(self, target: str) -> set[str] | None:
        prompt = self._prompts.registry.get(target)
        if prompt is not None:
            return {parameter.wire_name for parameter in prompt.signature.parameters}
        resource = self._resources.template_registry.get(target)
        if resource is not None and resource.template is not None:
            return set(resource.template.variables)
        return None

    def _choices(self, target: str) -> dict[str, list[str]]:
        """Values for the arguments of a prompt whose type is a Literal or an Enum."""
        prompt = self._prompts.registry.get(target)
        parameters = () if prompt is None else prompt.signature.parameters
        return {each.wire_name: values for each in parameters if (values := choices(each.annotation))}
