"""A client that records, answers from a script, and stops a server in this process when it closes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Never, Self, Unpack
from weakref import WeakKeyDictionary

from assay import Client, Contents, PromptResult, Server, ToolResult

from .answer import Answers
from .clock import ManualClock
from .recorder import Call, Question, QuestionKind, Recorder

if TYPE_CHECKING:
    from assay.client.callback import Callback
    from assay.client.options import ClientOptions
    from assay.client.target import Target

_USERS: WeakKeyDictionary[Server[Any], int] = WeakKeyDictionary()
"""Open clients of each server in this process: the last one stops it."""


class RecordingClient(Client):
    """A `Client` for tests. A `Server` object is started when it opens, and stopped when it closes: the next
    test can use the same object in another event loop.

    Args:
        target: As for `Client`.
        recorder: Records calls, questions, log messages, progress and changes.
        answers: Answers questions of the server, unless there is a handler in the options.
        clock: Moves the time of the event loop.
        **options: As for `Client`.
    """

    def __init__(
        self,
        target: Target,
        *,
        recorder: Recorder | None = None,
        answers: Answers | None = None,
        clock: ManualClock | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        if answers is not None:
            options = {**answers.handlers(), **options}
        super().__init__(target, **_recorded(options, recorder))
        self._local = target if isinstance(target, Server) else None
        self._recorder = recorder
        self._clock = clock
        self._uses_server = False

    async def open(self) -> Self:
        if self._clock is not None:
            self._clock.attach()
        if self._local is not None and not self._uses_server:
            self._uses_server = True
            _USERS[self._local] = _USERS.get(self._local, 0) + 1
        try:
            return await super().open()
        except BaseException:
            if not self.is_open:  # opened twice: the first time still holds
                await self._release()
            raise

    async def close(self) -> None:
        try:
            await super().close()
        finally:
            await self._release()

    async def _release(self) -> None:
        server = self._local
        if server is None or not self._uses_server:
            return
        self._uses_server = False
        _USERS[server] -= 1
        if not _USERS[server]:
            await server.drain()
            await server.stop()

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Callback | None = None,
        **options: Any,
    ) -> ToolResult:
        recorder = self._recorder
        if recorder is None or not isinstance(arguments, Mapping | None):  # which is refused
            return await super().call_tool(name, arguments, progress=progress, **options)
        call = Call("tool", name, dict(arguments or {}), progress=[])
        result: ToolResult = await _record(
            recorder,
            call,
            super().call_tool(name, arguments, progress=_both(recorder, call, progress), **options),
        )
        return result

    async def read(self, uri: str, **options: Any) -> list[Contents]:
        reading = super().read(uri, **options)
        if self._recorder is None:
            return await reading
        contents: list[Contents] = await _record(self._recorder, Call("resource", uri), reading)
        return contents

    async def prompt(self, name: str, /, *positional: Never, **arguments: str) -> PromptResult:
        prompting = super().prompt(name, *positional, **arguments)
        if self._recorder is None:
            return await prompting
        prompt: PromptResult = await _record(self._recorder, Call("prompt", name, arguments), prompting)
        return prompt


async def _record(recorder: Recorder, call: Call, work: Any) -> Any:
    recorder.add_call(call)
    try:
        call.result = await work
    except BaseException as error:
        call.error = error
        raise
    finally:
        recorder.notify()
    return call.result


def _both(recorder: Recorder, call: Call, progress: Callback | None) -> Callback:
    return _after(lambda notice: recorder.add_progress(call, notice), progress)


def _after(record: Callable[[Any], None], callback: Callback | None) -> Callback:
    """A callback that records, and then does what the user's callback does."""

    def recorded(notice: Any) -> Any:
        record(notice)
        return None if callback is None else callback(notice)

    return recorded


def _recorded(options: ClientOptions, recorder: Recorder | None) -> ClientOptions:
    if recorder is None:
        return options
    recorded = options.copy()
    recorded["on_log"] = _after(recorder.add_log, options.get("on_log"))
    recorded["log_level"] = options.get("log_level") or "debug"
    recorded["on_change"] = _after(recorder.add_change, options.get("on_change"))
    sampling, elicitation, roots = (options.get(name) for name in ("sampling", "elicitation", "roots"))
    if sampling is not None:
        recorded["sampling"] = _observed(recorder, "sampling", sampling)
    if elicitation is not None:
        recorded["elicitation"] = _observed(recorder, "elicitation", elicitation)
    if roots is not None:
        recorded["roots"] = _observed(recorder, "roots", roots if callable(roots) else lambda: roots)
    return recorded


def _observed(recorder: Recorder, kind: QuestionKind, handler: Any) -> Any:
    async def answer(*request: Any) -> Any:
        question = Question(kind, request[0] if request else None)
        recorder.add_question(question)
        try:
            reply = handler(*request)
            question.answer = await reply if inspect.isawaitable(reply) else reply
        except BaseException as error:
            question.error = error
            raise
        return question.answer

    return answer
