"""Definitions: how servers and clients describe themselves, and what servers offer."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from .content import Annotations, Icon


class Implementation(Struct, omit_defaults=True, rename="camel"):
    """The name and version of a client or server: `clientInfo` and `serverInfo`."""

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: list[Icon] | None = None


class ToolAnnotations(Struct, omit_defaults=True, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """Hints about the behaviour of a tool. Clients must not rely on hints from servers that they do not
    trust."""

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class ToolDefinition(Struct, omit_defaults=True, rename="camel", kw_only=True):
    name: str
    title: str | None = None
    description: str | None = None
    input_schema: Any
    output_schema: Any = None
    annotations: ToolAnnotations | None = None
    execution: dict[str, Any] | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class ResourceDefinition(Struct, omit_defaults=True, rename="camel", kw_only=True):
    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class TemplateDefinition(Struct, omit_defaults=True, rename="camel", kw_only=True):
    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: Annotations | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class PromptArgument(Struct, omit_defaults=True):
    name: str
    title: str | None = None
    description: str | None = None
    required: bool = False


class PromptDefinition(Struct, omit_defaults=True, kw_only=True):
    name: str
    title: str | None = None
    description: str | None = None
    arguments: list[PromptArgument] | None = None
    icons: list[Icon] | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class ClientCapabilities(Struct, frozen=True):
    """The capabilities that a client declared. Unknown ones are ignored: clients may declare more."""

    roots: dict[str, Any] | None = None
    sampling: dict[str, Any] | None = None
    elicitation: dict[str, Any] | None = None
    experimental: dict[str, Any] | None = None
    extensions: dict[str, Any] | None = None


class InitializeParams(Struct, rename="camel"):
    protocol_version: str
    capabilities: ClientCapabilities
    client_info: Implementation


class InitializeResult(Struct, omit_defaults=True, rename="camel"):
    protocol_version: str
    capabilities: dict[str, Any]
    server_info: Implementation
    instructions: str | None = None
