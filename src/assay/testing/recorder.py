"""Records what passes between a client and a server, for assertions afterwards."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct

from assay import (
    Change,
    ElicitationRequest,
    LogMessage,
    Progress,
    SamplingRequest,
    ToolResult,
)
from assay.model.visible import visible

LIMIT: Final = 10_000
"""Records of each kind that are kept: the newest."""
LISTED: Final = 20
"""Records that the text of a failed assertion lists."""
WIDTH: Final = 200
QuestionKind = Literal["sampling", "elicitation", "roots"]
T = TypeVar("T")


class Call(Struct):
    """A tool call, a resource that was read (`name` is its URI), or a prompt."""

    kind: Literal["tool", "resource", "prompt"]
    name: str
    arguments: Mapping[str, Any] = {}
    result: Any = None
    """The `ToolResult`, the list of `Contents` or the `PromptResult`; None while the call runs."""
    error: BaseException | None = None
    progress: list[Progress] = []

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        outcome = ""
        if self.error is not None:
            outcome = f" raised {type(self.error).__name__}: {self.error}"
        elif isinstance(self.result, ToolResult):
            outcome = " failed" if self.result.is_error else ""
        return visible(f"{self.name}({arguments}){outcome}")


class Question(Struct):
    """A question of the server, and the client's answer."""

    kind: QuestionKind
    request: SamplingRequest | ElicitationRequest | None
    """None for roots, which have no parameters."""
    answer: Any = None
    error: BaseException | None = None

    @property
    def text(self) -> str:
        """What the server asked: the message of an elicitation, or the text of all sampling messages."""
        if isinstance(self.request, ElicitationRequest):
            return self.request.message
        messages = self.request.messages if self.request is not None else []
        blocks = [block for message in messages for block in _blocks(message.content)]
        return "\n".join(getattr(block, "text", "") for block in blocks)

    def __str__(self) -> str:
        return visible(f"{self.kind}: {self.text}" if self.text else self.kind)


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


class Recorder:
    """What a client called, what the server asked, and what it announced. Keeps the newest 10,000 of each."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=LIMIT)
        self._questions: deque[Question] = deque(maxlen=LIMIT)
        self._logs: deque[LogMessage] = deque(maxlen=LIMIT)
        self._changes: deque[Change] = deque(maxlen=LIMIT)
        self._recorded = threading.Condition()
        """A SyncClient records in its own thread."""
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @property
    def calls(self) -> list[Call]:
        """Tool calls, oldest first."""
        return self._of_kind("tool")

    @property
    def reads(self) -> list[Call]:
        """Resources that were read."""
        return self._of_kind("resource")

    @property
    def prompts(self) -> list[Call]:
        return self._of_kind("prompt")

    def _of_kind(self, kind: str) -> list[Call]:
        return [call for call in self._calls if call.kind == kind]

    @property
    def questions(self) -> list[Question]:
        """Questions of the server: sampling, elicitation, roots."""
        return list(self._questions)

    @property
    def logs(self) -> list[LogMessage]:
        return list(self._logs)

    @property
    def changes(self) -> list[Change]:
        """Notifications that a list or a resource has changed."""
        return list(self._changes)

    @property
    def progress(self) -> list[Progress]:
        """Progress of all calls, in the order of the calls."""
        return [progress for call in self._calls for progress in call.progress]

    def clear(self) -> None:
        """Forget everything that was recorded."""
        for records in (self._calls, self._questions, self._logs, self._changes):
            records.clear()

    # Assertions.

    def assert_called(self, name: str, /, **arguments: Any) -> Call:
        """Assert that a tool was called, with at least these arguments. Returns the last such call."""
        __tracebackhide__ = True
        matching = self._matching(name, arguments)
        if not matching:
            raise AssertionError(f"{_call_text(name, arguments)} was not called\n{_listing(self.calls)}")
        return matching[-1]

    def assert_called_once(self, name: str, /, **arguments: Any) -> Call:
        """Assert that a tool was called exactly once with at least these arguments."""
        __tracebackhide__ = True
        matching = self._matching(name, arguments)
        if len(matching) != 1:
            count = f"{len(matching)} times, not once"
            raise AssertionError(f"{_call_text(name, arguments)} was called {count}\n{_listing(self.calls)}")
        return matching[0]

    def assert_not_called(self, name: str | None = None, /, **arguments: Any) -> None:
        """Assert that a tool was not called with these arguments; without a name, that none was."""
        __tracebackhide__ = True
        matching = self.calls if name is None else self._matching(name, arguments)
        if matching:
            tool = "a tool" if name is None else _call_text(name, arguments)
            raise AssertionError(f"{tool} was called\n{_listing(matching)}")

    def _matching(self, name: str, arguments: Mapping[str, Any]) -> list[Call]:
        return [call for call in self.calls if call.name == name and _includes(call.arguments, arguments)]

    def assert_asked(self, kind: QuestionKind, text: str = "") -> Question:
        """Assert that the server asked this kind of question, with this text in it. Returns the last."""
        __tracebackhide__ = True
        matching = [item for item in self._questions if item.kind == kind and text in item.text]
        if not matching:
            question = f"{kind} with {text!r}" if text else kind
            raise AssertionError(f"the server did not ask for {question}\n{_listing(self._questions)}")
        return matching[-1]

    def assert_logged(self, text: str = "", *, level: str | None = None) -> LogMessage:
        """Assert that the server sent a log message with this text. Returns the last."""
        __tracebackhide__ = True
        matching = [log for log in self._logs if text in str(log.data) and level in (None, log.level)]
        if not matching:
            message = f"{level or 'log'} message{f' with {text!r}' if text else ''}"
            lines = [f"{log.level}: {log.data}" for log in self._logs]
            raise AssertionError(f"the server did not send a {message}\n{_listing(lines)}")
        return matching[-1]

    def assert_changed(
        self, kind: Literal["tools", "prompts", "resources", "resource"], uri: str | None = None
    ) -> Change:
        """Assert that the server announced a change of a list, or of the resource at `uri`."""
        __tracebackhide__ = True
        matching = [change for change in self._changes if change.kind == kind and uri in (None, change.uri)]
        if not matching:
            change = f"{kind} {uri}" if uri else kind
            raise AssertionError(f"the server announced no change of {change}\n{_listing(self._changes)}")
        return matching[-1]

    # Waiting: notifications arrive when they arrive.

    async def until(self, condition: Callable[[Recorder], object], timeout: float = 5.0) -> None:
        """Wait until something recorded fulfils the condition: `await recorder.until(lambda r: r.changes)`.

        Raises:
            AssertionError: it did not within `timeout` seconds.
        """
        event = asyncio.Event()
        entry = asyncio.get_running_loop(), event
        self._waiting.append(entry)
        try:
            async with asyncio.timeout(timeout):
                while not condition(self):
                    await event.wait()
                    event.clear()
        except TimeoutError:
            raise AssertionError(self._timed_out(timeout)) from None
        finally:
            self._waiting.remove(entry)

    def wait_until(self, condition: Callable[[Recorder], object], timeout: float = 5.0) -> None:
        """The same for tests without async.

        Raises:
            AssertionError: it did not within `timeout` seconds.
        """
        with self._recorded:
            if not self._recorded.wait_for(lambda: condition(self), timeout):
                raise AssertionError(self._timed_out(timeout))

    def _timed_out(self, timeout: float) -> str:
        counts = f"{len(self._calls)} calls, {len(self._questions)} questions, {len(self._logs)} log messages"
        return f"not within {timeout:g} s; recorded: {counts}, {len(self._changes)} changes"

    # Recording.

    def add_call(self, call: Call) -> None:
        self._add(self._calls, call)

    def add_question(self, question: Question) -> None:
        self._add(self._questions, question)

    def add_log(self, message: LogMessage) -> None:
        self._add(self._logs, message)

    def add_change(self, change: Change) -> None:
        self._add(self._changes, change)

    def add_progress(self, call: Call, progress: Progress) -> None:
        if len(call.progress) < LIMIT:
            call.progress.append(progress)
        self.notify()

    def _add(self, records: deque[T], record: T) -> None:
        records.append(record)
        self.notify()

    def notify(self) -> None:
        """Wake what waits for a condition."""
        with self._recorded:
            self._recorded.notify_all()
        for loop, event in tuple(self._waiting):
            loop.call_soon_threadsafe(event.set)


def _includes(arguments: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return all(name in arguments and arguments[name] == value for name, value in expected.items())


def _call_text(name: str, arguments: Mapping[str, Any]) -> str:
    return str(Call("tool", name, arguments))


def _listing(records: Iterable[object]) -> str:
    lines = [visible(str(record))[:WIDTH] for record in records]
    if not lines:
        return "nothing of this kind was recorded"
    more = [f"  … {len(lines) - LISTED} earlier"] if len(lines) > LISTED else []
    return "\n".join(["recorded:", *more, *(f"  {line}" for line in lines[-LISTED:])])
