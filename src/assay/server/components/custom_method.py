"""Custom methods: functions that clients call by a method name outside the protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw

from assay.model.error import RegistrationError
from assay.protocol.codec import decode_params
from assay.revisions.registry import BY_DATE, REVISIONS
from assay.revisions.revision import Revision
from assay.server.calls.call import Call
from assay.server.feature import DETAILS
from assay.server.handlers.concurrency import ConcurrencyLimit
from assay.server.handlers.injection import make_invocable
from assay.server.handlers.signature import read_signature
from assay.server.results.bad_output import BadOutput
from assay.server.types.custom_type import write_custom
from assay.server.types.reading import AS_JSON

from .required_scope import PROTOCOL_METHODS, read_scopes

NAME: Final = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")
LABEL: Final = r"[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?"
EXTENSION: Final = re.compile(rf"{LABEL}(\.{LABEL})+/[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
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
        self.extension: str | None = None
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
        extension: str | None = None,
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
        method.extension = check_extension(extension)
        method.revisions = REVISIONS if revisions is None else [find_revision(date) for date in revisions]
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
        extensions: dict[str, Any] = {m.extension: {} for m in self.of(revision) if m.extension}
        if extensions and "extensions" in revision.capabilities:
            declared["extensions"] = extensions
        return declared


def check_capability(name: str | None) -> str | None:
    if name is not None and (name in PROTOCOL_CAPABILITIES or not NAME.fullmatch(name)):
        raise RegistrationError(f"invalid or reserved capability name: {name!r}")
    return name


def check_extension(name: str | None) -> str | None:
    """An extension is named by a reverse domain that its author owns, a slash, and a name
    (basic/versioning#extensions). Domains with certain second labels are reserved."""
    if name is None:
        return None
    if not EXTENSION.fullmatch(name):
        raise RegistrationError(
            f"invalid extension name: {name!r}; expected one such as `com.example/models`"
        )
    if name.split("/")[0].split(".")[1] in RESERVED_LABELS:
        raise RegistrationError(f"the prefix of {name} is reserved by the protocol: use your own domain")
    return name


def find_revision(date: str) -> Revision:
    if date not in BY_DATE:
        raise RegistrationError(f"unknown revision: {date}; one of {', '.join(BY_DATE)}")
    return BY_DATE[date]
