"""Extensions as values: what one adds to the protocol, and who may use it.

A server or client that supports an extension declares it in `capabilities.extensions`, under its name: once
per session in revisions with a handshake, in each request in the others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from assay.model.definition import ClientCapabilities
from assay.model.error import METHOD_NOT_FOUND, RegistrationError, RpcError
from assay.revisions.revision import Opening, Revision

LABEL: Final = r"[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?"
NAME: Final = re.compile(rf"{LABEL}(\.{LABEL})+/[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


# Compared by identity, like revisions: an extension has one value.
class Extension(Struct, frozen=True, eq=False):
    """An extension of the protocol.

        MODELS = Extension("com.example/models", requests=["models/list"])

    Args:
        name: A reverse domain that its author owns, a slash, and a name.
        requests: Methods that clients may call.
        notifications: Notifications that the server sends to clients which declared the extension.
        settings: What the server declares under the extension's name.
        needs_declaration: Whether clients that did not declare the extension are refused its methods.
        openings: The kinds of revision that it exists in; by default all.
        result_types: Values of `resultType` that it adds, in revisions with such a field.
        cacheable: Methods whose results have caching hints, in revisions with such hints.
        mirrored: The parameter that the header `Mcp-Name` repeats, by method.
        topics: Names that it adds to the filter of `subscriptions/listen`.

    Raises:
        RegistrationError: the name is invalid, or a method occurs in `cacheable` or `mirrored` only.
    """

    name: str
    requests: Collection[str] = frozenset()
    notifications: Collection[str] = frozenset()
    settings: Mapping[str, Any] = NOTHING
    needs_declaration: bool = True
    openings: Collection[Opening] = frozenset(Opening)
    result_types: Collection[str] = frozenset()
    cacheable: Collection[str] = frozenset()
    mirrored: Mapping[str, str] = NOTHING
    topics: Collection[str] = frozenset()

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise RegistrationError(
                f"invalid extension name: {self.name!r}; expected one such as `com.example/models`"
            )
        if isinstance(self.requests, str):
            raise RegistrationError(f"{self.name}: requests must be a list: write [{self.requests!r}]")
        for method in (*self.cacheable, *self.mirrored):
            if method not in self.requests:
                raise RegistrationError(f"{self.name}: {method} is not one of its requests")

    def is_in(self, revision: Revision) -> bool:
        """Whether servers and clients of a revision may declare it."""
        return revision.opening in self.openings

    def declared_by(self, capabilities: ClientCapabilities) -> Mapping[str, Any] | None:
        """The settings that a client has declared; None if it has not declared the extension."""
        settings = (capabilities.extensions or NOTHING).get(self.name)
        return settings if isinstance(settings, dict) else None

    def require(self, capabilities: ClientCapabilities, revision: Revision) -> None:
        """
        Raises:
            RpcError: the client did not declare the extension.
        """
        if self.declared_by(capabilities) is None:
            raise self.refusal(revision)

    def refusal(self, revision: Revision) -> RpcError:
        """The error for a client that did not declare the extension."""
        code = revision.missing_capability
        return RpcError(
            METHOD_NOT_FOUND if code is None else code,
            f"the client did not declare {self.name}: add it to the extensions of its capabilities",
            {"requiredCapabilities": {"extensions": {self.name: {}}}},
        )
