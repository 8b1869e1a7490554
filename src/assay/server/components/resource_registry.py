"""The resources and resource templates of a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from assay.model.content import Contents
from assay.model.definition import ResourceDefinition, TemplateDefinition
from assay.model.error import INVALID_PARAMS, RegistrationError, ResourceNotFound, RpcError
from assay.model.result import Cache, ReadResult
from assay.protocol.uri import InvalidUri, check_uri
from assay.server.calls.call import Call, DirectCall
from assay.server.handlers.concurrency import ConcurrencyLimit

from .registry import PagedRegistry
from .resource import Access, Resource, check_access, make_resource, match_variables
from .template_shape import template_shape

PRIVATE = Cache(0, "private")
"""The contents of a resource may depend on the caller, unless its author says otherwise."""


class Resources:
    """The resources and templates of a server, available as `Server.resources`; `Server.resource` is a
    decorator for `add`."""

    def __init__(
        self,
        registries: tuple[PagedRegistry[Resource], PagedRegistry[Resource]],
        limit: ConcurrencyLimit,
        access: Access | None,
        direct_call: DirectCall,
    ) -> None:
        self.registry, self.template_registry = registries
        self._limit = limit
        self._access = access
        self._direct_call = direct_call
        self._uri_by_shape: dict[str, str] = {}
        """Templates that match different URIs have different shapes."""

    def __len__(self) -> int:
        return len(self.registry) + len(self.template_registry)

    def __iter__(self) -> Iterator[Resource]:
        """The resources, then the templates, each with `key`, `tags`, `scopes` and `definition`. They may be
        removed meanwhile."""
        return iter((*self.registry, *self.template_registry))

    def add(self, uri: str, function: Callable[..., Any], **options: Any) -> None:
        """Register a function for a URI or a URI template, with the options of `Server.resource`. Clients are
        notified.

        Raises:
            RegistrationError: the function or an option is invalid, or the URI is taken.
        """
        resource = make_resource(uri, function, limits=(self._limit,), **options)
        if resource.template is None:
            self.registry.add(resource)
            return
        shape = template_shape(uri)
        other = self._uri_by_shape.get(shape, uri)
        if other != uri:
            raise RegistrationError(
                f"resource {uri}: {other} matches the same URIs, only the names of the variables differ:"
                " keep one of them"
            )
        self.template_registry.add(resource)
        self._uri_by_shape[shape] = uri

    def remove(self, uri: str) -> None:
        """Remove a resource or template. Clients are notified.

        Raises:
            KeyError: no resource or template has that URI.
        """
        if self.registry.get(uri) is not None:
            self.registry.remove(uri)
        else:
            self.template_registry.remove(uri)
            del self._uri_by_shape[template_shape(uri)]

    def describe(self, uri: str, **changes: Any) -> None:
        """Change fields of a resource's definition, such as its `size`. Clients are not notified.

        Raises:
            KeyError: no resource or template has that URI.
        """
        resource = self.registry.by_key.get(uri) or self.template_registry.by_key[uri]
        resource.definition = msgspec.structs.replace(resource.definition, **changes)

    async def read(self, uri: str) -> list[Contents]:
        """Read a resource from code, without a client.

        Raises:
            RpcError: the URI is invalid, or no resource has it.
        """
        async with self._direct_call() as call:
            return (await self.read_for(uri, call)).contents

    async def read_for(self, uri: str, call: Call) -> ReadResult:
        resource, variables = await self.find_for(uri, call)
        call.cache = resource.cache or PRIVATE
        return await resource.read(uri, variables, call)

    async def find_for(self, uri: str, call: Call) -> tuple[Resource, dict[str, str]]:
        """The resource at a URI, and the values of its template's variables, if the caller may read it.

        Raises:
            RpcError: the URI is invalid or unknown, access is denied, or a scope is missing.
        """
        check_readable(uri)
        if self._access is not None:
            call.private = True
            await check_access(self._access, uri, call.scope)
        resource, variables = self.find(uri)
        if resource.access is not None:
            call.private = True
            await check_access(resource.access, uri, call.scope)
        call.require(resource.scopes)
        return resource, variables

    def scopes_of(self, uri: str | None) -> tuple[str, ...]:
        """The scopes required to read a URI. Empty if access to it may be denied, so as not to reveal it.

        Raises:
            RpcError: no resource has that URI.
        """
        resource, _ = self.find(uri or "")
        return resource.scopes if self._access is None and resource.access is None else ()

    def find(self, uri: str) -> tuple[Resource, dict[str, str]]:
        resource = self.registry.get(uri)
        if resource is not None:
            return resource, {}
        for candidate in self.template_registry:
            if candidate.template is not None:
                variables = match_variables(candidate.template, uri)
                if variables is not None:
                    return candidate, variables
        raise ResourceNotFound(uri)

    def templates(self) -> list[TemplateDefinition]:
        """The definitions of all templates, in order of registration."""
        definitions = (resource.definition for resource in self.template_registry)
        return [definition for definition in definitions if isinstance(definition, TemplateDefinition)]

    # Last in the class: its name hides the built-in type from annotations below it.
    def list(self) -> list[ResourceDefinition]:
        """The definitions of all resources, in order of registration."""
        definitions = (resource.definition for resource in self.registry)
        return [definition for definition in definitions if isinstance(definition, ResourceDefinition)]


def check_readable(uri: str) -> None:
    """Refuse an invalid URI before any of the author's code sees it."""
    try:
        check_uri(uri)
    except InvalidUri as error:
        raise RpcError(INVALID_PARAMS, f"invalid resource URI: {error.reason}", {"uri": uri[:256]}) from None
