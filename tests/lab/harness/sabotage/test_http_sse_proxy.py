"""A healthy server behind the HTTP+SSE proxy."""

from collections.abc import AsyncIterator

import pytest

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.run.recording import Conditions, record
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.transport import Transport
from assay.revisions.registry import HANDSHAKE
from tests.lab.healthy_server import healthy

OLDEST = HANDSHAKE[0]


@pytest.fixture
async def subject() -> AsyncIterator[Subject]:
    reference = healthy("reference", Transport.HTTP_SSE)
    await reference.start()
    yield reference
    await reference.stop()


async def statuses(subject: Subject, drive: object) -> list[int]:
    played = await record("by hand", subject, OLDEST, drive, Facts(OLDEST.date), Conditions(patience=5.0))  # type: ignore[arg-type]
    assert played.broken is None
    return [call.status for call in played.trace.calls]


async def test_streams_are_separate(subject: Subject) -> None:
    async def drive(stage: Stage) -> None:
        peers = [await stage.open() for _ in range(2)]
        for peer in peers:
            assert (await peer.request("ping", request_id="the same")).is_result

    assert set(await statuses(subject, drive)) == {200, 202}


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"\xff no text", {}, 400),
        (b'{"jsonrpc":"2.0","method":"notifications/x"}', {"Origin": "http://evil.example"}, 403),
        (b'{"jsonrpc":"2.0","method":"notifications/x"}', {"Host": "evil.example"}, 421),
        (b'{"jsonrpc":"2.0",\n"method":"notifications/x"}', {"Origin": "http://localhost:1"}, 202),
    ],
)
async def test_bad_messages_are_refused_and_the_stream_stays_open(
    subject: Subject, body: bytes, headers: dict[str, str], status: int
) -> None:
    async def drive(stage: Stage) -> None:
        peer = await stage.open()
        await peer.offer(body, headers=headers)
        assert (await peer.request("ping")).is_result

    # The stream, `initialize` and its notification, the message, the ping, and the sentinel at the end.
    assert await statuses(subject, drive) == [200, 202, 202, status, 202, 202]
