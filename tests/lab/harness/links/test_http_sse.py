"""The two endpoints of the first revision: answers come on the stream, questions go where it says."""

import pytest

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.run.recording import Conditions, Recording, play
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.transport import Transport
from tests.lab.two_endpoints import OLDEST, TwoEndpoints, serving


async def talk(stage: Stage) -> int:
    peer = await stage.open()
    await peer.request("ping")
    return 1


async def played_against(server: TwoEndpoints) -> Recording:
    async with serving(server) as url:
        subject = UrlSubject(url, transport=Transport.HTTP_SSE)
        return await play("talk", subject, OLDEST, talk, Facts(OLDEST.date), Conditions(patience=5.0))


async def test_conversation_runs_over_both_endpoints() -> None:
    played = await played_against(TwoEndpoints())
    assert (played.value, played.broken) == (1, None)
    assert [(one.method, one.result is not None) for one in played.trace.exchanges()] == [
        ("initialize", True),
        ("ping", True),
        ("ping", True),
    ]
    assert played.trace.strays == ()


async def test_stream_that_names_no_endpoint_is_no_way_in() -> None:
    played = await played_against(TwoEndpoints(first=b""))
    assert isinstance(played.broken, Unreachable)


@pytest.mark.parametrize("target", ["ftp://x/", "http://x:port/", "http://elsewhere.example/messages"])
async def test_endpoint_that_cannot_be_reached_ends_the_conversation(target: str) -> None:
    played = await played_against(TwoEndpoints(first=f"event: endpoint\ndata: {target}\n\n".encode()))
    assert isinstance(played.broken, Unreachable)
