"""Error codes and the exceptions that handlers and the protocol raise.

AssayError
├── RpcError               answered as a JSON-RPC error, with its own code, message and data
│   ├── MalformedMessage   the message itself cannot be served; keeps its id where that was readable
│   ├── InsufficientScope  the caller was not granted what this takes; HTTP says 403 and names the scopes
│   └── ResourceNotFound   the code depends on the revision
├── ToolError              a tool failed on purpose; answered as a result with `isError`
├── AskError               the client could not be asked, or did not answer as it must
│   └── Undeclared         it did not declare what the question needs; also an RpcError
├── TlsError               a certificate or key that a server was given cannot be used
├── MissingExtra           an optional part of Assay is not installed
└── RegistrationError      a mistake of the server's author, found when the server is put together
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
RESOURCE_NOT_FOUND: Final = -32002
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022
INSUFFICIENT_SCOPE: Final = -31003
"""Ours, and outside of what JSON-RPC and MCP keep for themselves: for transports without an HTTP status."""


class AssayError(Exception):
    """Base of everything that Assay raises on purpose."""


class RpcError(AssayError):
    """Answer the request with this JSON-RPC error. The message is public: it goes to the client."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class MalformedMessage(RpcError):
    """The bytes are no JSON-RPC message that can be served."""

    def __init__(self, code: int, message: str, request_id: int | str | None = None) -> None:
        super().__init__(code, message)
        self.request_id = request_id


class InsufficientScope(RpcError):
    """The caller was not granted a scope that this takes. Raised before the handler runs."""

    def __init__(self, scopes: Sequence[str]) -> None:
        words = " ".join(scopes)
        super().__init__(INSUFFICIENT_SCOPE, f"insufficient scope: needs {words}", {"scope": words})
        self.scopes = tuple(scopes)


class ResourceNotFound(RpcError):
    """Raised by a resource handler, or by the registry, when nothing is at that URI."""

    def __init__(self, uri: str) -> None:
        super().__init__(RESOURCE_NOT_FOUND, f"resource not found: {uri}", {"uri": uri})
        self.uri = uri


class ToolError(AssayError):
    """A tool failed in a way its caller should read. The text is public: it goes to the model."""


class AskError(AssayError):
    """The client could not be asked, refused, or answered with something that was not asked for."""


class Undeclared(RpcError, AskError):
    """The client did not declare a capability, where a request that cannot do without it is answered
    with an error of its own. A handler that can do without catches it like any `AskError`."""

    def __str__(self) -> str:
        return self.message


class RegistrationError(AssayError, ValueError):
    """A tool, resource, prompt or completion was declared in a way that cannot be served."""


class TlsError(AssayError, ValueError):
    """A certificate or key cannot be used; the text says which file, and why."""


class MissingExtra(AssayError, ImportError):
    """An optional part of Assay is not installed; the text says how to install it."""
