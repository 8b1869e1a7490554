"""Send every row of the table that applies over a WebSocket; the next valid request must be served."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from assay.protocol.framing.websocket import TEXT, Ping, Pong, frame
from assay.revisions.revision import Revision
from tests.bad_input.row import Ended, Row, Setting
from tests.bad_input.table import TABLE
from tests.driving.messages import initialize, notification, request
from tests.driving.process import http_process
from tests.driving.raw_socket import MASK, RawSocket

SUBJECT = str(Path(__file__).with_name("subject.py"))
ROWS = [row for row in TABLE if row.websocket is not None]
NUMBERS = itertools.count(1)


class Subject:
    """A process, with one connection for each revision and one without a handshake."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: dict[Revision | None, RawSocket] = {}

    async def get(self, revision: Revision | None) -> RawSocket:
        if revision not in self._open:
            self._open[revision] = socket = await RawSocket.open(self._port)
            if revision is not None:
                assert "result" in await socket.ask(initialize(revision))
                socket.send(notification("notifications/initialized"))
        return self._open[revision]

    async def drop(self, revision: Revision | None) -> None:
        await self._open.pop(revision).gone()

    async def close(self) -> None:
        for revision in list(self._open):
            await self.drop(revision)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def subject(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Subject]:
    errors = tmp_path_factory.mktemp("errors") / "websocket"
    async with http_process(SUBJECT, "optional", str(errors)) as url:
        started = Subject(urlsplit(url).port or 0)
        yield started
        await started.close()
    assert errors.read_text() == ""


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
async def test_over_websocket(row: Row, subject: Subject) -> None:
    revision = None if row.setting is Setting.FRESH else row.revision
    socket = await subject.get(revision)
    socket.write(row.sent if row.raw else frame(TEXT, row.sent, mask=MASK))
    expected = row.websocket
    if isinstance(expected, Ended):
        assert (await socket.closed()).code == expected.code
        await subject.drop(revision)
        socket = await subject.get(revision)
    else:
        for expectation in expected or ():
            received = await socket.receive()
            while isinstance(received, Ping | Pong):
                received = await socket.receive()
            assert isinstance(received, str), received
            expectation.check(json.loads(received))
    good = request("ping", request_id=f"good {next(NUMBERS)}")
    assert await socket.ask(good) == {"jsonrpc": "2.0", "id": good["id"], "result": {}}
