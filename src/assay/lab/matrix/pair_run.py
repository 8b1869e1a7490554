"""Runs one pair: starts the server, starts the client, records what passes between them."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from types import MappingProxyType
from typing import Any, Final

import msgspec

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.run.recording import now
from assay.lab.harness.scripted_server.client import ClientExit, ClientSetup, CommandClient
from assay.lab.harness.trace.frame import Header, Kind, Sender
from assay.lab.harness.trace.recorder import Flooded, Recorder
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.view import CLIENT_PROCESS, EXITED
from assay.lab.harness.transport import Transport

from .definition import Matrix, ServerColumn
from .http_relay import HttpRelay
from .judgement import Recording, judged
from .listening import NotStarted, free_port, listening
from .pair import Blame, Pair, PairResult, Status
from .stdio_relay import StdioRelay

SCENARIO: Final = "matrix"
TAIL: Final = 4000
"""Characters of the output of client and server that are kept."""


class Setup(ClientSetup, frozen=True):
    """As for a client that is judged, with the environment of its row."""

    variables: Mapping[str, str] = MappingProxyType({})

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **self.variables}


class Address(msgspec.Struct):
    """Where the client connects to, and how the server fared."""

    url: str = ""
    command: str = ""
    problem: str = ""
    tail: list[str] = []


async def run_pair(matrix: Matrix, pair: Pair) -> tuple[PairResult, Trace | None]:
    """Never raises because of a client or a server: what is wrong with them is in the result."""
    lacking = _lacking(matrix, pair)
    if lacking is not None:
        return lacking, None
    begin, started = time.monotonic(), now()
    run = _PairRun(matrix, pair)
    try:
        result, trace = await run.result(started)
    except (NotStarted, ValueError) as error:
        result, trace = (
            PairResult(pair, Status.NOT_RUN, Blame.SERVER, f"the server did not start: {error}"),
            None,
        )
    except Unreachable as error:
        result, trace = PairResult(pair, Status.NOT_RUN, Blame.CLIENT, str(error)), None
    seconds = round(time.monotonic() - begin, 3)
    return msgspec.structs.replace(result, seconds=seconds, started=started, output=run.output()), trace


def _lacking(matrix: Matrix, pair: Pair) -> PairResult | None:
    """What the file says that one of them does not support."""
    for blame, name, party in (
        (Blame.CLIENT, pair.client, matrix.clients[pair.client]),
        (Blame.SERVER, pair.server, matrix.servers[pair.server]),
    ):
        if missing := party.lacks(pair):
            reason = f"{party.title or name} does not support {missing}"
            return PairResult(
                pair, Status.UNSUPPORTED, blame, f"{reason}: {party.reason}" if party.reason else reason
            )
    return None


class _PairRun:
    def __init__(self, matrix: Matrix, pair: Pair) -> None:
        self._matrix = matrix
        self._pair = pair
        self._client = matrix.clients[pair.client]
        self._server = matrix.servers[pair.server]
        self._exit: ClientExit | None = None
        self._address = Address()

    async def result(self, started: str) -> tuple[PairResult, Trace]:
        matrix, pair = self._matrix, self._pair
        header = Header(pair.revision, pair.transport, pair.server, SCENARIO, started)
        recorder = Recorder(header)
        async with self._served(recorder) as address:
            self._exit = await self._run_client(address)
        if address.problem:
            raise NotStarted(address.problem)
        _record_exit(recorder, self._exit)
        trace = recorder.trace(closed=not self._exit.stopped)
        steps, lacking = matrix.steps_of(pair), matrix.lacking_steps(pair)
        recording = Recording(
            pair, trace, self._exit, steps, lacking, matrix.timeout, flooded=recorder.flooded
        )
        return await asyncio.to_thread(judged, recording), trace

    async def _run_client(self, address: Address) -> ClientExit:
        pair, matrix = self._pair, self._matrix
        words = [self._filled(word) for word in self._client.command(pair.transport)]
        variables = {name: self._filled(value) for name, value in self._client.environment.items()}
        setup = Setup(
            SCENARIO, pair.revision, self._context(), address.url, address.command, variables=variables
        )
        return await CommandClient(words, Transport(pair.transport)).run(setup, matrix.timeout)

    def _context(self) -> dict[str, Any]:
        """What the client has to do, in the form of docs/judge-clients.md."""
        return {
            "steps": [step.fields for step in self._matrix.steps_of(self._pair)],
            "report": True,
            "capabilities": self._matrix.capabilities,
            "answers": self._matrix.answers,
        }

    @asynccontextmanager
    async def _served(self, recorder: Recorder) -> AsyncIterator[Address]:
        serve = self._on_stdio if self._pair.transport == Transport.STDIO else self._on_http
        async with serve(recorder, self._server) as address:
            self._address = address
            yield address

    @asynccontextmanager
    async def _on_stdio(self, recorder: Recorder, server: ServerColumn) -> AsyncIterator[Address]:
        relay = StdioRelay(recorder, [self._filled(word) for word in server.stdio], self._environment(server))
        await relay.start()
        address = Address(command=shlex.join(relay.command))
        try:
            yield address
        finally:
            await relay.stop()
            address.problem, address.tail = relay.problem, relay.tail

    @asynccontextmanager
    async def _on_http(self, recorder: Recorder, server: ServerColumn) -> AsyncIterator[Address]:
        port = str(free_port())
        command = [self._filled(word, port=port) for word in server.http]
        url = self._filled(server.url, port=port)
        address = Address()

        def take_error(line: bytes) -> None:
            with suppress(Flooded):
                recorder.record(Sender.SUBJECT, "beside/errors", Kind.ERRORS, line)

        environment = self._environment(server, port=port)
        async with listening(command, url, environment, take_error, self._matrix.timeout) as process:
            relay = HttpRelay(recorder, url)
            await relay.start()
            address.url = relay.url
            try:
                yield address
            finally:
                await relay.stop()
                address.tail = list(process.tail)

    def _environment(self, server: ServerColumn, **values: str) -> dict[str, str]:
        return {name: self._filled(value, **values) for name, value in server.environment.items()}

    def _filled(self, text: str, **values: str) -> str:
        return self._matrix.filled(text, revision=self._pair.revision, **values)

    def output(self) -> str:
        """The ends of what client and server wrote."""
        parts = []
        if self._exit is not None:
            parts += [_part("client, standard output", self._exit.stdout)]
            parts += [_part("client, standard error", self._exit.stderr)]
        parts += [_part("server, standard error", "\n".join(self._address.tail).encode())]
        return "\n".join(filter(None, parts))


def _part(heading: str, data: bytes) -> str:
    text = data[-TAIL:].decode(errors="replace").rstrip()
    return f"--- {heading}\n{text}" if text else ""


def _record_exit(recorder: Recorder, client_exit: ClientExit) -> None:
    with suppress(Flooded):
        recorder.mark(CLIENT_PROCESS, EXITED, status=client_exit.status)
