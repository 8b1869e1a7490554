"""Questions of a task whose handler runs in another process, sent to the client that waits here."""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from assay.model.error import AskError
from assay.model.jsonrpc import Request
from assay.model.task import TaskRecord
from assay.protocol.codec import encode
from assay.protocol.task import answered, related
from assay.server.calls.call import Call

from .task_run import Records

NO_ANSWER = Raw(b"null")
"""What fits no question: the handler gets an error, as for any answer that is invalid."""


class _Question(Struct):
    method: str
    params: Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Question).decode


class RemoteQuestions:
    """The questions that one request for the result of a task has passed on."""

    def __init__(self, call: Call, records: Records) -> None:
        self._call = call
        self._records = records
        self._ids: dict[str, str] = {}
        """Ids of the requests to the client, by the key of the question."""
        self._updates: set[asyncio.Task[object]] = set()

    async def deliver(self, record: TaskRecord) -> None:
        """Send the questions that this client has not got yet."""
        session, send = self._call.session, self._call.send
        if session is None or send is None:
            return
        for key, raw in record.questions.items():
            if key in self._ids:
                continue
            answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
            answer.add_done_callback(lambda done, key=key: self._pass_on(record.id, key, done))  # type: ignore[misc]
            self._ids[key] = session.outgoing_requests.ask(answer)
            question = _decode(raw)
            params = None if isinstance(question.params, UnsetType) else msgspec.json.decode(question.params)
            await send(encode(Request(self._ids[key], question.method, related(record.id, params))))

    def _pass_on(self, task_id: str, key: str, done: asyncio.Future[Raw]) -> None:
        if done.cancelled():
            return
        error = done.exception()
        if error is not None and not isinstance(error, AskError):
            raise error
        answer = done.result() if error is None else NO_ANSWER
        change = self._records.change(task_id, lambda record, now: answered(record, {key: answer}, now))
        update: asyncio.Task[object] = asyncio.ensure_future(change)
        self._updates.add(update)
        update.add_done_callback(self._updates.discard)

    def take_back(self) -> None:
        """Forget the questions that are not answered: the next request for the result sends them again."""
        if self._call.session is not None:
            for request_id in self._ids.values():
                self._call.session.outgoing_requests.forget(request_id)
