"""The subject of a request: the tool, prompt or resource that its parameters name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from assay.model.error import ResourceNotFound
from assay.model.jsonrpc import CallParams
from assay.protocol.middleware import Host
from assay.protocol.middleware import ServedCall as Call

MAX_LENGTH: Final = 2048
"""Longest URI to look up: longer ones would be matched and stored."""


class Params(Struct):
    """The parameters of any method, as far as needed here; the methods validate them."""

    name: Any = None
    uri: Any = None
    ref: Any = None
    meta: Raw | UnsetType = field(name="_meta", default=UNSET)


_decode: Final = msgspec.json.Decoder(Params).decode
NOTHING: Final = Params()


class Subject(NamedTuple):
    kind: str
    """tool, prompt or resource."""
    key: str
    """The name; for a resource, the URI."""


def read_params(call: Call) -> Params | CallParams:
    decoded = call.decoded_params
    if type(decoded) is CallParams:
        return decoded
    try:
        return _decode(call.params)
    except (msgspec.DecodeError, RecursionError):
        return NOTHING


def _tool(params: Any) -> Subject | None:
    return Subject("tool", params.name) if isinstance(params.name, str) else None


def _prompt(params: Any) -> Subject | None:
    return Subject("prompt", params.name) if isinstance(params.name, str) else None


def _resource(params: Any) -> Subject | None:
    return Subject("resource", params.uri) if isinstance(params.uri, str) else None


def _completion(params: Any) -> Subject | None:
    """A completion for an argument of a prompt. One for a template has no subject: it names no resource
    yet."""
    name = params.ref.get("name") if isinstance(params.ref, dict) else None
    return Subject("prompt", name) if isinstance(name, str) else None


SUBJECTS: Final[dict[str, Callable[[Any], Subject | None]]] = {
    "tools/call": _tool,
    "prompts/get": _prompt,
    "resources/read": _resource,
    "resources/subscribe": _resource,
    "resources/unsubscribe": _resource,
    "completion/complete": _completion,
}


def find_name(host: Host, subject: Subject) -> str | None:
    """The registered name; `None` for an unknown subject, so that clients cannot invent metric labels."""
    if subject.kind == "resource":
        return _resource_name(host, subject.key)
    registry = host.tools.registry if subject.kind == "tool" else host.prompts.registry
    return None if registry.get(subject.key) is None else subject.key


def _resource_name(host: Host, uri: str) -> str | None:
    if len(uri) > MAX_LENGTH:
        return None
    try:
        component, _ = host.resources.find(uri)
    except ResourceNotFound:
        return None
    name: str = component.definition.name
    return name
