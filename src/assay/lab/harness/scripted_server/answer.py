"""What a handler of the host can give, besides a result."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

Json = dict[str, Any]


class Refused(Exception):
    """Raised by a handler: the client gets this error."""

    def __init__(self, code: int, message: str, data: Any = None, *, status: int | None = None) -> None:
        super().__init__(code, message)
        self.error: Json = {"code": code, "message": message} | ({} if data is None else {"data": data})
        self.status = status
        """Of the HTTP response, if not the usual one."""


class Asking(Exception):
    """Raised by `Turn.inquire` where the revision asks by retry: the client gets these questions."""

    def __init__(self, result: Json) -> None:
        super().__init__(result)
        self.result = result


class Raw(Struct, frozen=True):
    """Sent in place of an answer, as it is: it need not be JSON, nor a message."""

    body: bytes
    status: int | None = None


class Silence:
    """No answer at all; on HTTP the response stays open until the client leaves."""


SILENCE: Final = Silence()


class Done:
    """The handler has answered by itself."""


DONE: Final = Done()
Answer = Json | Raw | Silence | Done
