"""Versions of prompts: the author's version number, and a digest that shows whether the text changed.

The digest covers the messages that the prompt yields when each argument is its own name in braces, as in
`{code}`. If that fails, it covers the definition, and `over` says so.
"""

from __future__ import annotations

import logging
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.model.definition import PromptDefinition
from assay.model.result import PromptResult
from assay.model.visible import visible_record
from assay.protocol.middleware import Host
from assay.protocol.middleware import PromptComponent as Prompt
from assay.revisions.revision import Revision

from .digests import digest_of
from .keys import VERSION

logger: Final = logging.getLogger("assay.profile")
logger.addFilter(visible_record)


class Version(Struct, omit_defaults=True):
    digest: str
    over: str
    semver: str | None = None
    """`None` if the author gave none."""


class Versions:
    """The versions of one server's prompts, rendered on first use and again for a replaced prompt."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: dict[tuple[str, Revision], tuple[Prompt, Version]] = {}

    async def of(self, prompt: Prompt, revision: Revision) -> Version:
        """Per revision, because the content that messages may hold depends on it."""
        key = (prompt.definition.name, revision)
        known = self._known.get(key)
        if known is not None and known[0] is prompt:
            return known[1]
        registry = self._host.prompts.registry
        if len(self._known) > 8 * len(registry):
            self._known = {
                key: known for key, known in self._known.items() if registry.get(key[0]) is known[0]
            }
        version = await self._make(prompt, revision)
        self._known[key] = prompt, version
        return version

    async def _make(self, prompt: Prompt, revision: Revision) -> Version:
        definition: PromptDefinition = prompt.definition
        if prompt.version is None:
            logger.warning("prompt %s has no version: give one, as in version='1.0.0'", definition.name)
        arguments = {argument.name: f"{{{argument.name}}}" for argument in definition.arguments or ()}
        try:
            rendered = await prompt.get(arguments, self._host.direct_call(revision))
            return Version(digest_of(rendered.messages), "messages", prompt.version)
        except Exception as error:  # the author's code may fail in any way on placeholders
            logger.debug("prompt %s cannot be rendered with placeholders: %s", definition.name, error)
            return Version(digest_of(listed_fields(definition)), "definition", prompt.version)

    async def list(self, definitions: list[PromptDefinition], revision: Revision) -> list[PromptDefinition]:
        """The definitions of a page, each with its version."""
        return [await self._listed(definition, revision) for definition in definitions]

    async def _listed(self, definition: PromptDefinition, revision: Revision) -> PromptDefinition:
        prompt = self._host.prompts.registry.get(definition.name)
        if prompt is None:  # removed while others were rendered
            return definition
        meta = {**(definition.meta or {}), VERSION: await self.of(prompt, revision)}
        return msgspec.structs.replace(definition, meta=meta)

    async def put(self, result: PromptResult, prompt: Prompt, revision: Revision) -> PromptResult:
        meta = {**(result.meta or {}), VERSION: await self.of(prompt, revision)}
        return PromptResult(result.messages, result.description, meta)


def listed_fields(definition: PromptDefinition) -> dict[str, Any]:
    """The definition as it is listed: name, and arguments if any."""
    fields: dict[str, Any] = {"name": definition.name, "arguments": definition.arguments}
    return {key: value for key, value in fields.items() if value is not None}
