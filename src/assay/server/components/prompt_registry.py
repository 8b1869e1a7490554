"""The prompts of a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from assay.model.definition import PromptDefinition
from assay.model.error import INVALID_PARAMS, RpcError
from assay.model.result import PromptResult
from assay.server.calls.call import DirectCall
from assay.server.handlers.concurrency import ConcurrencyLimit
from assay.server.hint import COMPONENT_OPTION_HINTS, check_names, option_names

from .prompt import Prompt, make_prompt
from .registry import PagedRegistry


class Prompts:
    """The prompts of a server, available as `Server.prompts`; `Server.prompt` is a decorator for `add`."""

    def __init__(
        self, registry: PagedRegistry[Prompt], limit: ConcurrencyLimit, direct_call: DirectCall
    ) -> None:
        self.registry = registry
        self._limit = limit
        self._direct_call = direct_call

    def __len__(self) -> int:
        return len(self.registry)

    def __iter__(self) -> Iterator[Prompt]:
        """The prompts, each with `key`, `tags`, `scopes` and `definition`. They may be removed meanwhile."""
        return iter(tuple(self.registry))

    def add(self, function: Callable[..., Any], **options: Any) -> None:
        """Register a function as a prompt, with the options of `Server.prompt`. Clients are notified.

        Raises:
            RegistrationError: the function or an option is invalid, or the name is taken.
        """
        check_names("a prompt", options, option_names(make_prompt), COMPONENT_OPTION_HINTS)
        self.registry.add(make_prompt(function, limits=(self._limit,), **options))

    def remove(self, name: str) -> None:
        """Remove a prompt. Clients are notified.

        Raises:
            KeyError: unknown prompt.
        """
        self.registry.remove(name)

    def list(self) -> list[PromptDefinition]:
        """The definitions of all prompts, in order of registration."""
        return [prompt.definition for prompt in self.registry]

    async def get(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """Get a prompt from code, without a client.

        Raises:
            RpcError: unknown prompt, or its arguments are invalid.
        """
        async with self._direct_call() as call:
            return await self.find(name).get(dict(arguments or {}), call)

    def find(self, name: str) -> Prompt:
        prompt = self.registry.get(name)
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"unknown prompt: {name}")
        return prompt
