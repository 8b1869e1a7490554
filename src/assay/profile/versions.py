"""Versions of prompts: what the author counts, and a digest that shows whether the text is the one counted.

The digest is over the messages that the prompt makes when each argument is set to its own name in braces,
as in `{code}`. Where it cannot be rendered so, it is over the definition, and says that.
"""

from __future__ import annotations

import logging
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.model.definition import PromptDefinition
from assay.model.result import PromptResult
from assay.protocol.layer import Host
from assay.protocol.layer import PromptComponent as Prompt
from assay.revisions.revision import Revision

from .digests import digest_of
from .keys import VERSION

logger: Final = logging.getLogger("assay.profile")


class Version(Struct, omit_defaults=True):
    digest: str
    over: str
    semver: str | None = None
    """None where the author does not count: no number is made up."""


class Versions:
    """The versions of the prompts of one server: rendered when first asked for, and anew for a new prompt."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: dict[tuple[str, Revision], tuple[Prompt, Version]] = {}

    async def of(self, prompt: Prompt, revision: Revision) -> Version:
        """The digest is by revision, because what its messages may hold is."""
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
        except Exception as error:  # whatever its author's code makes of such arguments
            logger.debug("prompt %s cannot be rendered with placeholders: %s", definition.name, error)
            return Version(digest_of(shown(definition)), "definition", prompt.version)

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


def shown(definition: PromptDefinition) -> dict[str, Any]:
    """As it is listed: name, and arguments where it has some."""
    found: dict[str, Any] = {"name": definition.name, "arguments": definition.arguments}
    return {key: value for key, value in found.items() if value is not None}
