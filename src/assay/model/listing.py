"""Results of the methods that list components: one page each. At runtime they are plain dictionaries."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from .definition import PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition


class ToolList(TypedDict):
    """The result of `tools/list`."""

    tools: list[ToolDefinition]
    nextCursor: NotRequired[str]


class ResourceList(TypedDict):
    """The result of `resources/list`."""

    resources: list[ResourceDefinition]
    nextCursor: NotRequired[str]


class TemplateList(TypedDict):
    """The result of `resources/templates/list`."""

    resourceTemplates: list[TemplateDefinition]
    nextCursor: NotRequired[str]


class PromptList(TypedDict):
    """The result of `prompts/list`."""

    prompts: list[PromptDefinition]
    nextCursor: NotRequired[str]
