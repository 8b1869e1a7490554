"""The transport of a URL is detected as the specification describes: a POST first, then a GET."""

import asyncio
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import parse_run
from assay.lab.harness.subject.detected import DetectedSubject
from assay.lab.harness.subject.subject import AnnouncedSubject, served
from assay.lab.harness.transport import Transport
from tests.cli.subjects.echo import echoing
from tests.lab.two_endpoints import OLDEST, TwoEndpoints, serving

Output = pytest.CaptureFixture[str]


async def detected(url: str) -> Transport:
    subject = DetectedSubject(url)
    await subject.start()
    try:
        return subject.transport
    finally:
        await subject.stop()


async def test_stream_that_names_an_endpoint_is_http_sse() -> None:
    async with serving(TwoEndpoints()) as url:
        assert await detected(url) is Transport.HTTP_SSE


@pytest.mark.parametrize(
    "first", [b"", b"event: message\ndata: {}\n\n" + b"event: endpoint\ndata: ftp://x/\n\n"]
)
async def test_stream_without_a_usable_endpoint_is_not(first: bytes) -> None:
    async with serving(TwoEndpoints(first)) as url:
        assert await detected(url) is Transport.HTTP


async def test_server_that_accepts_posts_is_streamable_http() -> None:
    server = served("everything", Transport.HTTP)
    assert isinstance(server, AnnouncedSubject)
    await server.start()
    try:
        assert await detected(server.name) is Transport.HTTP
    finally:
        await server.stop()


async def test_refused_credentials_are_not_mistaken_for_the_old_transport() -> None:
    with echoing(required="nobody") as url:
        assert await detected(url) is Transport.HTTP


async def test_server_with_the_old_transport_alone_is_judged_there(tmp_path: Path, capsys: Output) -> None:
    options = ["--output", str(tmp_path), "--format", "json"]
    scenarios = ["--scenario", "ping", "--scenario", "tools-definitions", "--scenario", "jsonrpc-*"]
    async with serving(TwoEndpoints()) as url:
        code = await asyncio.to_thread(main, ["server", "--url", url, *scenarios, *options])
    run = parse_run(capsys.readouterr().out.encode())
    (subject,) = run.subjects
    assert subject.transport == "http-sse"
    assert [facts.revision for facts in subject.facts] == [OLDEST.date]
    outcomes = {cell.scenario: cell.outcome for cell in run.cells}
    assert outcomes["lifecycle.ping"] == outcomes["tools.definitions"] == "passed"
    assert outcomes["jsonrpc.unknown-method"] == "passed"
    assert code == 0, [(cell.scenario, cell.reason) for cell in run.cells if cell.outcome != "passed"]
