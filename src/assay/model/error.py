"""Error codes and the exceptions that handlers and the protocol raise.

AssayError
├── RpcError               answered as a JSON-RPC error with this code, message and data
│   ├── MalformedMessage   the message is not valid JSON-RPC; has its id if that was readable
│   ├── Busy               the server has no room for the request; status 503 over HTTP
│   │   └── StoreAway      the store cannot be reached at present
│   ├── InsufficientScope  the caller lacks a scope; status 403 with a challenge over HTTP
│   └── ResourceNotFound   the code depends on the revision
├── ToolError              a tool reports a failure; answered as a result with `isError`
│   └── ProcessError       a command of `Context.run` failed
├── AskError               the client could not be asked, or its answer is invalid
│   └── Undeclared         the client did not declare a capability; also an RpcError
├── StoreError             a store cannot be used
├── TlsError               a certificate or key cannot be used
├── MissingExtra           an optional dependency is not installed
├── CannotStartWorkers     several workers are impossible here
├── InvalidTarget          a text names no server
├── LifespanFailed         the lifespan of a server could not be started
└── RegistrationError      the author registered something invalid
"""

from __future__ import annotations

from collections.abc import Sequence
from errno import EADDRINUSE
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
# Outside the ranges that JSON-RPC and MCP reserve; for transports without an HTTP status.
INSUFFICIENT_SCOPE: Final = -31003
BUSY: Final = -31004

RETRY_AFTER: Final = "retryAfter"
"""Seconds, in the data of `Busy`."""
STOPPING: Final = "the server is stopping"
"""Why a request is refused or ended, on every transport."""


class AssayError(Exception):
    """Base of all exceptions that Assay defines."""


class RpcError(AssayError):
    """Raise it in a handler to answer the request with this JSON-RPC error. The client sees all of it.

    Args:
        code: The error code; application codes should be outside -32768 to -32000.
        message: What went wrong, in one sentence.
        data: Details, as any JSON value.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class MalformedMessage(RpcError):
    """The bytes are not a valid JSON-RPC message."""

    def __init__(self, code: int, message: str, request_id: int | str | None = None) -> None:
        super().__init__(code, message)
        self.request_id = request_id


class Busy(RpcError):
    """A limit is reached. The same request may be served later; over HTTP the status is 503."""

    def __init__(self, reason: str, *, retry_after: float | None = None) -> None:
        """`retry_after` is the number of seconds after which the same request may be served, if known."""
        data = None if retry_after is None else {RETRY_AFTER: retry_after}
        super().__init__(BUSY, f"{reason}; try again later", data)


class StoreAway(Busy):
    """The store that the request needs cannot be reached at present. The log names the cause."""

    def __init__(self, reason: str = "the server's store is not available") -> None:
        super().__init__(reason, retry_after=1.0)


class InsufficientScope(RpcError):
    """The caller lacks a scope that the request needs."""

    def __init__(self, scopes: Sequence[str]) -> None:
        needed = " ".join(scopes)
        super().__init__(INSUFFICIENT_SCOPE, f"insufficient scope: needs {needed}", {"scope": needed})
        self.scopes = tuple(scopes)


class ResourceNotFound(RpcError):
    """No resource has this URI. Resource handlers may raise it, too."""

    def __init__(self, uri: str) -> None:
        super().__init__(RESOURCE_NOT_FOUND, f"resource not found: {uri}", {"uri": uri})
        self.uri = uri


class ToolError(AssayError):
    """Raise it in a tool to report a failure to the client's model, which reads the message."""


class ProcessError(ToolError):
    """A command of `Context.run` could not be started, failed, or took or wrote too much.

    Args:
        message: What went wrong, with the last lines of standard error.
        returncode: The exit code, negative for a signal; None if the command was not started.
        stdout: The output so far.
        stderr: The same of standard error.
    """

    def __init__(
        self, message: str, returncode: int | None = None, stdout: str = "", stderr: str = ""
    ) -> None:
        super().__init__(message)
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr


class AskError(AssayError):
    """The client could not be asked, answered with an error, or its answer is invalid."""


class Undeclared(RpcError, AskError):
    """The client did not declare a capability, in a revision with an error code for that. A handler may catch
    it like any other `AskError`."""

    def __str__(self) -> str:
        return self.message


class RegistrationError(AssayError, ValueError):
    """A tool, resource, prompt, completion or option of a server is invalid."""


class TlsError(AssayError, ValueError):
    """A certificate or key cannot be used. The message names the file and the reason."""


class StoreError(AssayError):
    """A store cannot be used. `problem` says why, `fix` what to do."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem, fix)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem}; {self.fix}"


class CannotListen(AssayError, OSError):
    """A server cannot listen on its address. The message names address and reason."""

    def __init__(self, host: str, port: int, cause: OSError) -> None:
        super().__init__(cause.errno, cause.strerror or str(cause))
        self.host = host
        self.port = port
        self.is_taken = cause.errno == EADDRINUSE

    @property
    def fix(self) -> str:
        return (
            "choose another with port=…, or port=0 for any free one"
            if self.is_taken
            else "choose another host="
        )

    def __str__(self) -> str:
        if self.is_taken:
            return f"port {self.port} is in use on {self.host}"
        return f"cannot listen on {self.host}, port {self.port}: {self.strerror}"


class CannotStartWorkers(AssayError):
    """Several workers are impossible here. `problem` says why, `fix` what to do instead."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem, fix)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return self.problem


class LifespanFailed(AssayError):
    """The lifespan of a server could not be started. The message names the exception and where it was raised;
    the exception itself is the `__cause__`."""


class MissingExtra(AssayError, ImportError):
    """An optional dependency is not installed. The message says how to install it."""


class InvalidTarget(AssayError, ValueError):
    """A text is not a URL, a command or a Python server. `problem` says why, `fix` what to write."""

    def __init__(self, problem: str, fix: str = "") -> None:
        super().__init__(problem, fix)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem}\n  {self.fix}" if self.fix else self.problem
