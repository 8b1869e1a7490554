"""What a handler can return or raise instead of a result."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

Json = dict[str, Any]


class AnswerError(Exception):
    """Raised by a handler to answer with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None, *, status: int | None = None) -> None:
        super().__init__(code, message)
        self.error: Json = {"code": code, "message": message} | ({} if data is None else {"data": data})
        self.status = status
        """The HTTP status, if it is not the default one for the code."""


class InputNeeded(Exception):
    """Raised by `RequestCycle.inquire` to answer with an `input_required` result."""

    def __init__(self, result: Json) -> None:
        super().__init__(result)
        self.result = result


class Raw(Struct, frozen=True):
    """Bytes to send instead of an answer; they need not be JSON."""

    body: bytes
    status: int | None = None


class Silence:
    """No answer. On HTTP the response stays open until the client disconnects."""


SILENCE: Final = Silence()


class Done:
    """The handler has sent the answer itself."""


DONE: Final = Done()
Answer = Json | Raw | Silence | Done
