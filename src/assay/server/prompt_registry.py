"""The prompts of a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.model.definition import PromptDefinition
from assay.model.error import INVALID_PARAMS, RpcError
from assay.model.result import PromptResult

from .call import Call
from .concurrency import ConcurrencyLimit
from .prompt import Prompt, make_prompt
from .registry import PagedRegistry


class Prompts:
    """Register, remove, list and get prompts from code; `Server.prompt` is the decorator for the first."""

    def __init__(
        self, registry: PagedRegistry[Prompt], limit: ConcurrencyLimit, direct_call: Callable[[], Call]
    ) -> None:
        self.registry = registry
        self._limit = limit
        self._direct_call = direct_call

    def __len__(self) -> int:
        return len(self.registry)

    def add(self, function: Callable[..., Any], **options: Any) -> None:
        """Register a function; options are those of `Server.prompt`.

        Raises:
            RegistrationError: it cannot be served as a prompt.
        """
        self.registry.add(make_prompt(function, limits=(self._limit,), **options))

    def remove(self, name: str) -> None:
        """
        Raises:
            KeyError: there is no such prompt.
        """
        self.registry.remove(name)

    def list(self) -> list[PromptDefinition]:
        return [prompt.definition for prompt in self.registry]

    async def get(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """Get a prompt as a client would.

        Raises:
            RpcError: there is no such prompt, or its arguments do not fit.
        """
        return await self.find(name).get(dict(arguments or {}), self._direct_call())

    def find(self, name: str) -> Prompt:
        prompt = self.registry.get(name)
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"unknown prompt: {name}")
        return prompt
