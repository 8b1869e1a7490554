"""The exceptions of a client. Never an exception group, and the cause is in `__cause__`.

ClientError
├── ConnectionFailed   the server cannot be reached, or the connection has ended
│   └── ServerDied     the child process has ended; with exit code and the last lines of stderr
├── HttpFailure        the server answered with an HTTP status instead of a message
├── AuthorizationFailed  no access token could be obtained
├── Timeout            no answer in time; also a TimeoutError
├── ServerError        the server answered with a JSON-RPC error; also an RpcError
├── ToolFailed         a tool result with `isError`; also a ToolError
├── InvalidAnswer      the server broke the protocol or exceeded a limit
└── ClientClosed       the client was closed while the call waited, or before
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .error import MISSING_CAPABILITY, AssayError, RpcError, ToolError

if TYPE_CHECKING:
    from .result import ToolResult

BODY_CHARACTERS: Final = 500
"""How much of a body an error shows."""
COMMAND_CHARACTERS: Final = 200
SIGNALS: Final = {
    1: "SIGHUP",
    2: "SIGINT",
    6: "SIGABRT",
    9: "SIGKILL",
    11: "SIGSEGV",
    13: "SIGPIPE",
    15: "SIGTERM",
}
"""Those that end servers, with the same number on every system."""


def visible(text: str) -> str:
    from .visible import visible as shown  # not at the top: only texts of errors need it

    return shown(text)


class ClientError(AssayError):
    """Base of all errors of a client. Their texts may quote a server: nothing in them acts on a terminal."""

    def __str__(self) -> str:
        from .visible import visible_lines

        return visible_lines(super().__str__())


class ConnectionFailed(ClientError, ConnectionError):
    """The server cannot be reached, or the connection has ended."""

    unsent = False
    """Whether the request has certainly not reached the server, because no connection could be opened."""


class ServerDied(ConnectionFailed):
    """The server's process has ended.

    Args:
        command: The command that started it.
        exit_code: Its exit code; negative for a signal, None if it only closed its input or output.
        stderr: The last lines that it wrote to standard error.
        stray: Lines on standard output that were no messages.
    """

    def __init__(
        self, command: str, exit_code: int | None, stderr: Sequence[str] = (), stray: Sequence[str] = ()
    ) -> None:
        super().__init__(command, exit_code)
        self.command = command
        self.exit_code = exit_code
        self.stderr = tuple(stderr)
        self.stray = tuple(stray)

    def __str__(self) -> str:
        command = (
            self.command
            if len(self.command) <= COMMAND_CHARACTERS
            else f"{self.command[:COMMAND_CHARACTERS]}…"
        )
        lines = quoted_lines(self.stderr, self.stray)
        return f"the server {visible(command)} {_ending(self.exit_code)}{lines or _silent(self.exit_code)}"


def _ending(code: int | None) -> str:
    if code is None:
        return "closed its input or output, but has not ended"
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was ended by signal {SIGNALS.get(-code, -code)}"


def _silent(code: int | None) -> str:
    """What to do about a process that ended by itself without a word."""
    if code is None or code < 0:
        return ""
    return "; it wrote nothing: start the command in a terminal to see what it does"


class HttpFailure(ClientError):
    """The server answered with an HTTP status instead of a message.

    Args:
        url: The address of the request.
        status: The HTTP status.
        body: The beginning of the body.
        headers: The headers of the response, with lower-case names.
        hint: What to change.
    """

    def __init__(
        self, url: str, status: int, body: str = "", headers: Mapping[str, str] | None = None, hint: str = ""
    ) -> None:
        super().__init__(url, status, body)
        self.url = url
        self.status = status
        self.body = body[:BODY_CHARACTERS]
        self.headers = dict(headers or {})
        self.hint = hint

    def __str__(self) -> str:
        hint = f"; {visible(self.hint)}" if self.hint else ""
        body = f"\n  body: {visible(self.body)}" if self.body.strip() else ""
        return f"HTTP status {self.status} from {visible(self.url)}{hint}{body}"


class AuthorizationFailed(ClientError):
    """No access token could be obtained.

    Args:
        reason: The cause, and what to change.
        error: The OAuth error code, such as `access_denied`, if an authorization server sent one.
    """

    def __init__(self, reason: str, error: str | None = None) -> None:
        super().__init__(reason)
        self.error = error

    def __str__(self) -> str:
        return visible(str(self.args[0]))


class Timeout(ClientError, TimeoutError):
    """No answer in time. The server was asked to cancel the request."""


NEEDS_HANDLER: Final = "; pass elicitation=, sampling= or roots= to Client"


class ServerError(ClientError, RpcError):
    """The server answered with a JSON-RPC error: `code`, `message`, `data`. `status` is the HTTP status, if
    the error came with one."""

    def __init__(self, code: int, message: str, data: Any = None, status: int | None = None) -> None:
        super().__init__(code, message, data)
        self.status = status

    def __str__(self) -> str:
        hint = NEEDS_HANDLER if self.code == MISSING_CAPABILITY else ""
        return f"{visible(self.message)} ({self.code}){hint}"


class ToolFailed(ClientError, ToolError):
    """A tool reported a failure; `result` is its whole result, and the message its text."""

    def __init__(self, tool: str, result: ToolResult) -> None:
        super().__init__(tool, result)
        self.tool = tool
        self.result = result

    def __str__(self) -> str:
        prefix, reason = f"tool {visible(self.tool)} failed", visible(self.result.text or "no reason given")
        return reason if reason.startswith(prefix) else f"{prefix}: {reason}"


class TaskCancelled(ClientError):
    """A task was cancelled; `task_id` is its id."""

    def __init__(self, task_id: str, reason: str | None = None) -> None:
        super().__init__(task_id, reason)
        self.task_id = task_id
        self.reason = reason

    def __str__(self) -> str:
        reason = f": {visible(self.reason)}" if self.reason else ""
        return f"task {visible(self.task_id)} was cancelled{reason}"


class InvalidAnswer(ClientError):
    """The server broke the protocol, or exceeded a limit of this client."""


class ClientClosed(ClientError):
    """The client is closed."""

    def __init__(self) -> None:
        super().__init__(
            "the client is closed: make calls inside `async with Client(…)` or `with SyncClient(…)`"
        )


def quoted_lines(stderr: Sequence[str], stray: Sequence[str]) -> str:
    """What a process wrote, as lines below an error."""
    lines = [f"\n  stderr: {visible(line)}" for line in stderr]
    lines += [f"\n  not a message, on stdout: {visible(line)}" for line in stray]
    return "".join(lines)
