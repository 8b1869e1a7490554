"""Prompts: message templates that a user picks by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import msgspec

from assay.model.content import BLOCKS, Icon, Text
from assay.model.definition import PromptArgument, PromptDefinition
from assay.model.error import INVALID_PARAMS, RegistrationError, RpcError
from assay.model.result import Message, PromptResult
from assay.server.calls.call import Call
from assay.server.handlers.concurrency import ConcurrencyLimit
from assay.server.handlers.injection import make_invocable
from assay.server.handlers.invocation import Invocable
from assay.server.handlers.signature import Signature, read_signature
from assay.server.results.bad_output import BadOutput
from assay.server.results.library_value import adapt
from assay.server.results.shape import shape_messages
from assay.server.types.problem import one_line
from assay.server.types.reading import AS_TEXT

from .required_scope import read_scopes
from .tag import read_tags, with_tags

VERSION: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", re.ASCII)


class Prompt:
    """A registered prompt."""

    __slots__ = ("_invoke", "_read", "definition", "scopes", "signature", "tags", "version")

    def __init__(self, definition: PromptDefinition, signature: Signature, invoke: Invocable) -> None:
        self.definition = definition
        self.signature = signature
        self.scopes: tuple[str, ...] = ()
        self.tags: frozenset[str] = frozenset()
        self.version: str | None = None
        """The version of its text, if the author numbers it."""
        self._read = signature.arguments().reader(AS_TEXT)
        self._invoke = invoke

    @property
    def key(self) -> str:
        return self.definition.name

    async def get(self, arguments: dict[str, str], call: Call) -> PromptResult:
        try:
            typed = self._read(arguments)
        except msgspec.ValidationError as error:
            problem = one_line(str(error))
            raise RpcError(INVALID_PARAMS, f"invalid arguments for prompt {self.key}: {problem}") from None
        value = await self._invoke(msgspec.structs.asdict(typed), call)
        try:
            result = to_prompt_result(value)
        except BadOutput as error:
            raise error.named(f"prompt {self.key!r}") from None
        return PromptResult(
            shape_messages(result.messages, call.peer.revision), result.description, result.meta
        )


def to_prompt_result(value: Any) -> PromptResult:
    if isinstance(value, PromptResult):
        return value
    items = value if isinstance(value, list | tuple) else [value]
    return PromptResult([_message(item) for item in items])


def _message(item: Any) -> Message:
    if isinstance(item, Message):
        return item
    if isinstance(item, str):
        return Message("user", Text(item))
    block = adapt(item)
    if isinstance(block, BLOCKS):
        return Message("user", block)
    raise BadOutput(item, "text, content blocks or messages")


def make_prompt(
    function: Callable[..., Any],
    *,
    limits: tuple[ConcurrencyLimit, ...],
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    icons: list[Icon] | None = None,
    meta: dict[str, Any] | None = None,
    scopes: Sequence[str] = (),
    tags: Collection[str] = (),
    version: str | None = None,
) -> Prompt:
    signature = read_signature(function)
    owner = f"prompt {name or signature.name}"
    words = read_tags(tags, owner)
    arguments = [
        PromptArgument(parameter.wire_name, description=parameter.description, required=parameter.required)
        for parameter in signature.parameters
    ]
    definition = PromptDefinition(
        name=name or signature.name,
        title=title,
        description=description or signature.description,
        arguments=arguments or None,
        icons=icons,
        meta=with_tags(meta, words, owner),
    )
    prompt = Prompt(definition, signature, make_invocable(function, signature, limits))
    prompt.scopes, prompt.tags = read_scopes(scopes, owner), words
    if version is not None and not VERSION.fullmatch(version):
        raise RegistrationError(f"{owner}: a version has three numbers, such as 1.2.0: {version!r}")
    prompt.version = version
    return prompt
