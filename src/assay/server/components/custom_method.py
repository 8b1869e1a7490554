"""Custom methods: functions that clients call by a method name outside the protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw

from assay.extensions.extension import Extension
from assay.model.error import RegistrationError
from assay.protocol.codec import decode_params
from assay.protocol.middleware import Serve
from assay.revisions.registry import BY_DATE, REVISIONS
from assay.revisions.revision import Opening, Revision
from assay.server.calls.call import Call
from assay.server.extensions.handlers import gated
from assay.server.feature import DETAILS
from assay.server.handlers.concurrency import ConcurrencyLimit
from assay.server.handlers.injection import make_invocable
from assay.server.handlers.signature import read_signature
from assay.server.results.bad_output import BadOutput
from assay.server.types.custom_type import write_custom
from assay.server.types.reading import AS_JSON

from .required_scope import PROTOCOL_METHODS, read_scopes

NAME: Final = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")
RESERVED_LABELS: Final = ("mcp", "modelcontextprotocol")
PROTOCOL_CAPABILITIES: Final = frozenset(DETAILS).union(*(revision.capabilities for revision in REVISIONS))

_encode: Final = msgspec.json.Encoder(enc_hook=write_custom).encode


class CustomMethod:
    """A function that serves a method; its parameters are those of the request."""

    __slots__ = ("_decode", "_invoke", "capability", "extension", "name", "revisions", "scopes")

    def __init__(self, name: str, function: Callable[..., Any], limit: ConcurrencyLimit) -> None:
        signature = read_signature(function)
        self.name = name
        self.capability: str | None = None
        self.extension: Extension | None = None
        self.revisions: Collection[Revision] = REVISIONS
        self.scopes: tuple[str, ...] = ()
        # Open: every request may have a `_meta`, and newer clients may send more parameters.
        self._decode = signature.arguments().reader(AS_JSON, closed=False)
        self._invoke = make_invocable(function, signature, (limit,))

    async def serve(self, call: Call) -> Any:
        params = decode_params(call.params, self._decode)
        value = await self._invoke(msgspec.structs.asdict(params), call)
        try:
            return to_result(value)
        except BadOutput as error:
            raise error.named(f"method {self.name!r}") from None

    @property
    def gated_serve(self) -> Serve:
        """Serves the method by the rules of its extension."""
        return self.serve if self.extension is None else gated(self.extension, self.name, self.serve)


def to_result(value: Any) -> Any:
    """Convert a return value to the object that a result must be.

    Raises:
        BadOutput: the value is not an object.
    """
    if value is None:
        return {}
    try:
        encoded = _encode(value)
    except (TypeError, NotImplementedError, UnicodeEncodeError) as error:
        raise BadOutput(value, "an object", str(error)) from None
    if not encoded.startswith(b"{"):
        raise BadOutput(value, "an object")
    # A `_meta` may have to be merged with ours, which takes the object instead of its bytes.
    return Raw(encoded) if encoded.find(b'"_meta"') < 0 else msgspec.json.decode(encoded)


class CustomMethods:
    """All custom methods of a server."""

    def __init__(self, limit: ConcurrencyLimit) -> None:
        self._limit = limit
        self._by_name: dict[str, CustomMethod] = {}

    def add(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        capability: str | None = None,
        extension: str | Extension | None = None,
        revisions: Collection[str] | None = None,
        scopes: Sequence[str] = (),
    ) -> None:
        """
        Raises:
            RegistrationError: the name or an option is invalid, or the name is taken.
        """
        self._check_name(name)
        method = CustomMethod(name, function, self._limit)
        method.capability = check_capability(capability)
        method.extension = read_extension(extension, name)
        method.revisions = (
            _revisions_of(extension) if revisions is None else list(map(find_revision, revisions))
        )
        method.scopes = read_scopes(scopes, f"method {name}")
        self._by_name[name] = method

    def _check_name(self, name: str) -> None:
        if len(name) > 128 or not NAME.fullmatch(name):
            raise RegistrationError(
                f"invalid method name: {name[:128]!r}; expected one such as `models/list`"
            )
        if name in PROTOCOL_METHODS or name.startswith(("notifications/", "rpc.")):
            raise RegistrationError(f"{name} is reserved by the protocol: choose another name")
        if name in self._by_name:
            raise RegistrationError(f"method {name} is already registered")

    def of(self, revision: Revision) -> Iterator[CustomMethod]:
        return (method for method in self._by_name.values() if revision in method.revisions)

    def declaration(self, revision: Revision) -> dict[str, Any]:
        """The capabilities that the methods of this revision declare."""
        declared: dict[str, Any] = {m.capability: {} for m in self.of(revision) if m.capability}
        extensions = {
            method.extension.name: dict(method.extension.settings)
            for method in self.of(revision)
            if method.extension is not None and method.extension.is_in(revision)
        }
        return declared | {"extensions": extensions} if extensions else declared


def check_capability(name: str | None) -> str | None:
    if name is not None and (name in PROTOCOL_CAPABILITIES or not NAME.fullmatch(name)):
        raise RegistrationError(f"invalid or reserved capability name: {name!r}")
    return name


def read_extension(extension: str | Extension | None, method: str) -> Extension | None:
    """The extension that announces a method. One that is only a name refuses no client, and is declared where
    revisions have extensions.

    Raises:
        RegistrationError: it is reserved, or does not have the method.
    """
    if isinstance(extension, str):
        extension = Extension(
            extension, requests=[method], needs_declaration=False, openings=[Opening.PER_REQUEST]
        )
    if extension is not None:
        check_owner(extension)
        if method not in extension.requests:
            raise RegistrationError(f"{extension.name} has no method {method}: add it to its requests")
    return extension


def check_owner(extension: Extension) -> None:
    """Domains with certain second labels are reserved (basic/versioning#extensions).

    Raises:
        RegistrationError: the extension has such a domain.
    """
    if extension.name.split("/")[0].split(".")[1] in RESERVED_LABELS:
        raise RegistrationError(
            f"the prefix of {extension.name} is reserved by the protocol: use your own domain"
        )


def _revisions_of(extension: str | Extension | None) -> Collection[Revision]:
    if not isinstance(extension, Extension):
        return REVISIONS
    return [revision for revision in REVISIONS if extension.is_in(revision)]


def find_revision(date: str) -> Revision:
    if date not in BY_DATE:
        raise RegistrationError(f"unknown revision: {date}; one of {', '.join(BY_DATE)}")
    return BY_DATE[date]
