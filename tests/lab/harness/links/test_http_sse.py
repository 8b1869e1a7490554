"""The two endpoints of the first revision: answers on the stream, requests to the URL that it names."""

import pytest

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.run.recording import Conditions, Recording, record
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.transport import Transport
from tests.lab.two_endpoints import OLDEST, TwoEndpoints, serving


async def ping(stage: Stage) -> int:
    peer = await stage.open()
    await peer.request("ping")
    return 1


async def recording_of(server: TwoEndpoints) -> Recording:
    async with serving(server) as url:
        subject = UrlSubject(url, transport=Transport.HTTP_SSE)
        return await record("ping", subject, OLDEST, ping, Facts(OLDEST.date), Conditions(patience=5.0))


async def test_conversation_runs_over_both_endpoints() -> None:
    recording = await recording_of(TwoEndpoints())
    assert (recording.value, recording.broken) == (1, None)
    exchanges = recording.trace.exchanges()
    assert [(exchange.method, exchange.result is not None) for exchange in exchanges] == [
        ("initialize", True),
        ("ping", True),
        ("ping", True),
    ]
    assert recording.trace.strays == ()


async def test_stream_without_an_endpoint_event_is_unreachable() -> None:
    recording = await recording_of(TwoEndpoints(first=b""))
    assert isinstance(recording.broken, Unreachable)


@pytest.mark.parametrize("target", ["ftp://x/", "http://x:port/", "http://elsewhere.example/messages"])
async def test_endpoint_that_cannot_be_reached_ends_the_conversation(target: str) -> None:
    recording = await recording_of(TwoEndpoints(first=f"event: endpoint\ndata: {target}\n\n".encode()))
    assert isinstance(recording.broken, Unreachable)
