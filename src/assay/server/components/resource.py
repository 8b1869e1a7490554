"""Resources: data at a URI, or at every URI that matches a template."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import msgspec

from assay.model.content import Annotations, Audio, Contents, EmbeddedResource, Icon, Image
from assay.model.definition import ResourceDefinition, TemplateDefinition
from assay.model.error import INVALID_PARAMS, RegistrationError, ResourceNotFound, RpcError
from assay.model.result import Cache, ReadResult
from assay.protocol.scope import Scope
from assay.protocol.uri import InvalidUri, check_uri
from assay.protocol.uri_template import InvalidTemplate, UnsafeVariable, UriTemplate
from assay.server.calls.call import Call
from assay.server.handlers.concurrency import ConcurrencyLimit
from assay.server.handlers.injection import make_invocable
from assay.server.handlers.invocation import Invocable
from assay.server.handlers.signature import Signature, read_signature
from assay.server.results.bad_output import BadOutput
from assay.server.results.library_value import adapt, write_value
from assay.server.types.problem import one_line
from assay.server.types.reading import AS_TEXT

from .required_scope import read_scopes
from .tag import read_tags, with_tags

TEXT: Final = "text/plain"
BINARY: Final = "application/octet-stream"
JSON: Final = "application/json"
DIRECTORY: Final = "inode/directory"

Access = Callable[[str, Scope], Any]
"""Decides whether a URI may be read: a function or coroutine function of the URI and the `Scope`.
Returning False hides the resource; an exception is answered like one of a handler."""


class Resource:
    """A registered resource or template."""

    __slots__ = ("_invoke", "_read", "access", "cache", "definition", "scopes", "tags", "template")

    def __init__(
        self,
        definition: ResourceDefinition | TemplateDefinition,
        template: UriTemplate | None,
        signature: Signature,
        invoke: Invocable,
        access: Access | None,
        cache: Cache | None = None,
    ) -> None:
        self.cache = cache
        self.definition = definition
        self.template = template
        self._read = signature.arguments().reader(AS_TEXT)
        self._invoke = invoke
        self.access = access
        self.scopes: tuple[str, ...] = ()
        self.tags: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        if isinstance(self.definition, TemplateDefinition):
            return self.definition.uri_template
        return self.definition.uri

    async def read(self, uri: str, variables: dict[str, str], call: Call) -> ReadResult:
        try:
            arguments = msgspec.structs.asdict(self._read(variables))
        except msgspec.ValidationError as error:
            problem = one_line(str(error))
            raise RpcError(INVALID_PARAMS, f"invalid resource URI: {problem}", {"uri": uri}) from None
        value = await self._invoke(arguments, call)
        try:
            return ReadResult(to_contents(uri, value, self.definition.mime_type))
        except BadOutput as error:
            raise error.named(f"resource {self.key!r}") from None


async def check_access(access: Access, uri: str, scope: Scope) -> None:
    """
    Raises:
        ResourceNotFound: access is denied. The client must not learn that the resource exists.
    """
    allowed = access(uri, scope)
    if inspect.isawaitable(allowed):
        allowed = await allowed
    if not allowed:
        raise ResourceNotFound(uri)


def to_contents(uri: str, value: Any, mime_type: str | None) -> list[Contents]:
    if isinstance(value, Contents):
        return [value]
    if isinstance(value, list | tuple) and value and all(isinstance(item, Contents) for item in value):
        return list(value)
    if isinstance(value, str):
        return [Contents(uri, text=value, mime_type=mime_type or TEXT)]
    if isinstance(value, bytes | bytearray | memoryview):
        return [Contents(uri, blob=bytes(value), mime_type=mime_type or BINARY)]
    value = adapt(value)
    if isinstance(value, Image | Audio):
        return [Contents(uri, blob=value.data, mime_type=mime_type or value.mime_type)]
    if isinstance(value, EmbeddedResource):
        return [msgspec.structs.replace(value.resource, uri=uri)]
    if mime_type == DIRECTORY:
        return [Contents(uri, text="\n".join(str(name) for name in value), mime_type=DIRECTORY)]
    return [Contents(uri, text=_formatted(value), mime_type=mime_type or JSON)]


def _formatted(value: Any) -> str:
    try:
        encoded = msgspec.json.encode(value, enc_hook=write_value)
    except (TypeError, NotImplementedError, UnicodeEncodeError) as error:
        raise BadOutput(value, "text, bytes, Contents or a JSON value", str(error)) from None
    return msgspec.json.format(encoded, indent=2).decode()


def make_resource(
    uri: str,
    function: Callable[..., Any],
    *,
    limits: tuple[ConcurrencyLimit, ...],
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    mime_type: str | None = None,
    size: int | None = None,
    annotations: Annotations | Mapping[str, Any] | None = None,
    icons: list[Icon] | None = None,
    meta: dict[str, Any] | None = None,
    access: Access | None = None,
    cache: Cache | None = None,
    scopes: Sequence[str] = (),
    tags: Collection[str] = (),
) -> Resource:
    signature = read_signature(function)
    template = _template(uri)
    _check_variables(uri, template, signature)
    words = read_tags(tags, f"resource {uri}")
    fields: dict[str, Any] = {
        "name": name or signature.name,
        "title": title,
        "description": description or signature.description,
        "mime_type": mime_type,
        "annotations": _annotations(annotations, uri),
        "icons": icons,
        "meta": with_tags(meta, words, f"resource {uri}"),
    }
    definition: ResourceDefinition | TemplateDefinition
    if template is None:
        _check_static(uri, size)
        definition = ResourceDefinition(uri=uri, size=size, **fields)
    elif size is not None:
        raise RegistrationError(f"resource {uri}: a template has no size")
    else:
        definition = TemplateDefinition(uri_template=uri, **fields)
    invoke = make_invocable(function, signature, limits)
    resource = Resource(definition, template, signature, invoke, access, cache)
    resource.scopes, resource.tags = read_scopes(scopes, f"resource {uri}"), words
    return resource


def _template(uri: str) -> UriTemplate | None:
    if "{" not in uri and "}" not in uri:
        return None
    try:
        return UriTemplate(uri)
    except InvalidTemplate as error:
        raise RegistrationError(f"resource {uri}: {error}: write variables as in notes://{{day}}") from None


def _check_static(uri: str, size: int | None) -> None:
    try:
        check_uri(uri)
    except InvalidUri as error:
        raise RegistrationError(
            f"resource {uri}: {error}: write a scheme in front, as in notes://today"
        ) from None
    if size is not None and size < 0:
        raise RegistrationError(f"resource {uri}: size must not be negative: {size}")


def _check_variables(uri: str, template: UriTemplate | None, signature: Signature) -> None:
    variables = set(template.variables) if template is not None else set()
    names = {parameter.wire_name for parameter in signature.parameters}
    required = {parameter.wire_name for parameter in signature.parameters if parameter.required}
    if variables - names:
        missing = ", ".join(sorted(variables - names))
        problem = f"resource {uri}: {signature.name} has no parameter for {{{missing}}}"
        raise RegistrationError(f"{problem}: add it to {signature.name}, or remove the variable from the URI")
    if required - variables:
        missing = ", ".join(sorted(required - variables))
        problem = f"resource {uri}: the URI has no variable for parameter {missing}"
        raise RegistrationError(f"{problem}: add {{{missing}}} to the URI, or give the parameter a default")


def _annotations(annotations: Annotations | Mapping[str, Any] | None, uri: str) -> Annotations | None:
    if annotations is None or isinstance(annotations, Annotations):
        return annotations
    try:
        return msgspec.convert(dict(annotations), Annotations)
    except ValueError as error:
        raise RegistrationError(f"resource {uri}: bad annotations: {error}") from None


def match_variables(template: UriTemplate, uri: str) -> dict[str, str] | None:
    """
    Raises:
        RpcError: the URI matches, but a variable holds a path traversal.
    """
    try:
        return template.match(uri)
    except UnsafeVariable as error:
        raise RpcError(INVALID_PARAMS, f"unsafe resource URI: {error}", {"uri": uri}) from None
