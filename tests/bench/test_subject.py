"""What is measured is the real thing: the very application that `make bench` loads refuses what it should."""

from __future__ import annotations

from typing import Any

import pytest

from assay import Server
from bench.peers import assay_async, assay_def, assay_many, assay_state, assay_token, bare
from bench.request import (
    CALL,
    HANDSHAKE_WIRE,
    HEADERS,
    INITIALIZE,
    INITIALIZED,
    PER_REQUEST_WIRE,
    Wire,
    expect_answer,
    expect_sum,
)
from bench.subject import ASSAY, ASSAY_DEF, SUBJECTS, Subject
from tests.driving.asgi import AsgiPeer
from tests.driving.process import stdio_process

MEASURED = {ASSAY: assay_async, ASSAY_DEF: assay_def}
CALL_1 = (CALL % 1).encode()
WRONG_TYPE = CALL_1.replace(b'"b":2', b'"b":"two"')
BAD_JSON = CALL_1[:-1]

measured = pytest.mark.parametrize(
    "subject", [s for s in SUBJECTS if s.name in MEASURED], ids=lambda s: s.name
)


def peer(subject: Subject) -> AsgiPeer:
    """Built as `bench/peers/serve_http.py` builds it: the module's `app()`, nothing else."""
    return AsgiPeer(MEASURED[subject.name].app())


@measured
def test_the_subject_is_the_module_that_is_tested_here(subject: Subject) -> None:
    assert MEASURED[subject.name].__file__ == subject.stdio_command()[-1]
    assert subject.http_command(7)[-2:] == [MEASURED[subject.name].__name__.rpartition(".")[2], "7"]


@measured
@pytest.mark.parametrize("wire", [HANDSHAKE_WIRE, PER_REQUEST_WIRE], ids=lambda wire: wire.name)
async def test_it_answers_the_measured_request_with_the_sum(subject: Subject, wire: Wire) -> None:
    async with peer(subject) as client:
        answer = await client.post(wire.body.encode(), headers=wire.headers)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    expect_answer(answer.body, wire)


@measured
@pytest.mark.parametrize(
    "headers",
    [{"mcp-name": "other"}, {"mcp-method": "tools/list"}, {"mcp-protocol-version": "2025-11-25"}],
    ids=lambda headers: next(iter(headers)),
)
async def test_it_refuses_headers_that_say_something_else(subject: Subject, headers: dict[str, str]) -> None:
    wire = PER_REQUEST_WIRE
    async with peer(subject) as client:
        answer = await client.post(wire.body.encode(), headers={**wire.headers, **headers})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


@measured
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"accept": "text/html"}, 406),
        ({"mcp-protocol-version": "1999-01-01"}, 400),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
async def test_it_refuses_a_bad_header(subject: Subject, headers: dict[str, str], status: int) -> None:
    async with peer(subject) as client:
        assert (await client.post(CALL_1, headers={**HEADERS, **headers})).status == status


@measured
async def test_it_refuses_bad_json(subject: Subject) -> None:
    async with peer(subject) as client:
        answer = await client.post(BAD_JSON, headers=HEADERS)
    assert answer.status == 400
    assert answer.json["error"]["code"] == -32700


@measured
async def test_it_refuses_an_argument_of_the_wrong_type(subject: Subject) -> None:
    async with peer(subject) as client:
        answer = await client.post(WRONG_TYPE, headers=HEADERS)
    assert_refuses_argument(answer.json)


@measured
async def test_it_does_the_same_on_stdio(subject: Subject) -> None:
    async with stdio_process(subject.stdio_command()[-1]) as server:
        assert "result" in await server.ask(INITIALIZE)
        await server.send(INITIALIZED)
        await server.write(CALL_1 + b"\n")
        expect_sum(await server.line(), 1)
        await server.write(BAD_JSON + b"\n")
        assert (await server.receive())["error"]["code"] == -32700
        await server.write(WRONG_TYPE + b"\n")
        assert_refuses_argument(await server.receive())


def assert_refuses_argument(answer: Any) -> None:
    """As an error of the tool or of the protocol, whichever the revision wants; never a sum."""
    assert "error" in answer or answer["result"]["isError"] is True
    assert "structuredContent" not in answer.get("result", {})


async def test_the_limit_answers_the_same_request_and_checks_nothing() -> None:
    async with AsgiPeer(bare.app()) as client:
        answer = await client.post(CALL_1, headers={**HEADERS, "host": "evil.example"})
    assert answer.status == 200
    expect_sum(answer.body, 1)


def test_the_state_that_is_signed_is_that_of_a_default_server() -> None:
    server = Server("bench")
    assert assay_state.run_batch(server, 3) > 0
    with pytest.raises(ValueError, match="signature"):
        server.sealer.open(Server("another").sealer.seal(b"state"))


@pytest.mark.parametrize("kind", ["known", "new"])
async def test_requests_with_tokens_are_let_in_and_timed(kind: str) -> None:
    assert await assay_token.run_batch(kind, 3) > 0


async def test_the_tool_among_many_is_found_and_called() -> None:
    server = assay_many.build(50)
    assert len(server.tools.registry) == 50
    assert await assay_many.run_batch(server.asgi(), 2) > 0
