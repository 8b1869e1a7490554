"""The server on real sockets, with asyncio's event loop and uvloop, with and without TLS."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ipaddress
import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from assay import Server
from assay.model.limits import Limits
from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from assay.transport.http1.listening import listen
from assay.transport.http1.server import _display_host, serve, serve_http
from tests.driving.answer import PATIENCE
from tests.transport.http1.memory_client import (
    App,
    ClosableApp,
    ParsedResponse,
    chunked,
    echo,
    echo_in_parts,
    get,
    length,
    part,
    post,
    read_answers,
    start,
    whole_send,
)

BIG = 8_000_000
Run = Callable[[Coroutine[Any, Any, None]], None]


class Keys(NamedTuple):
    server: ssl.SSLContext
    client: ssl.SSLContext


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """A test certificate, and contexts that trust it."""
    path: Path = tmp_path_factory.mktemp("keys") / "both.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(key.private_bytes(pem, *plain) + certificate.public_bytes(pem))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return Keys(server, ssl.create_default_context(cafile=path))


class Setup:
    """An event loop, with or without TLS."""

    def __init__(self, run: Run, keys: Keys | None) -> None:
        self.run = run
        self._keys = keys

    @contextlib.asynccontextmanager
    async def serving(self, app: App, **limits: Any) -> AsyncIterator[Site]:
        bound, stop = listen("127.0.0.1", 0), asyncio.Event()
        site = Site(bound.getsockname()[1], stop, None if self._keys is None else self._keys.client)
        tls = None if self._keys is None else self._keys.server
        site.serving = asyncio.create_task(
            serve(ClosableApp(app), bound, stop.wait, limits=Limits(**{"drain": 1.0, **limits}), tls=tls)
        )
        try:
            yield site
        finally:
            await site.stop()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others, f"left behind: {others}"


class Site:
    serving: asyncio.Task[None]

    def __init__(self, port: int, stop: asyncio.Event, tls: ssl.SSLContext | None) -> None:
        self._port = port
        self._stop = stop
        self._tls = tls

    async def stop(self) -> None:
        self._stop.set()
        async with asyncio.timeout(2 * PATIENCE):
            await self.serving

    @contextlib.asynccontextmanager
    async def client(self, **options: Any) -> AsyncIterator[Client]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, ssl=self._tls, **options)
        try:
            yield Client(reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def to_the_end(self) -> bytes:
        async with asyncio.timeout(2 * PATIENCE):
            return await self._reader.read()

    async def some(self, size: int = 65536) -> bytes:
        async with asyncio.timeout(2 * PATIENCE):
            return await self._reader.read(size)

    async def answers(self, *methods: str) -> list[ParsedResponse]:
        """Everything until the server closes the connection."""
        return read_answers(await self.to_the_end(), methods, ended=True)

    def reset(self) -> None:
        """Reset the connection, which is what closing with this option does."""
        sock: socket.socket = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


@pytest.fixture(params=["asyncio", "asyncio-tls", "uvloop", "uvloop-tls"])
def setup(request: pytest.FixtureRequest, keys: Keys) -> Setup:
    loop, _, tls = request.param.partition("-")
    return Setup(asyncio.run if loop == "asyncio" else uvloop.run, keys if tls else None)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweep often, because the timeouts are short here."""
    monkeypatch.setattr("assay.transport.http1.server_state.SWEEP_INTERVAL", 0.05)
    monkeypatch.setattr("assay.transport.http1.channel.LINGER", 0.2)


def test_requests_one_after_the_other(setup: Setup) -> None:
    async def main() -> None:
        async with setup.serving(echo) as site, site.client() as client:
            client.send(post(b"one") + chunked(b"tw", b"o"))
            client.send(post(b"x" * 300_000) + post(b"last", b"connection: close"))
            bodies = [each.body for each in await client.answers(*["POST"] * 4)]
            assert bodies == [b"one", b"two", b"x" * 300_000, b"last"]

    setup.run(main())


def test_scheme_and_addresses(setup: Setup) -> None:
    scopes: list[AsgiScope] = []

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        scopes.append(scope)
        await echo(scope, receive, send)

    async def main() -> None:
        async with setup.serving(app) as site, site.client() as client:
            client.send(get(b"/", b"connection: close"))
            await client.to_the_end()
            here = client.writer.get_extra_info("sockname")
            assert scopes[0]["client"] == here[:2]
            assert scopes[0]["server"] == ("127.0.0.1", site._port)
            assert scopes[0]["scheme"] == ("http" if site._tls is None else "https")

    setup.run(main())


def test_large_bodies_in_both_directions(setup: Setup, hurry: None) -> None:
    """More than any buffer holds: a client that does not read slows an application that echoes."""

    async def main() -> None:
        async with setup.serving(echo_in_parts) as site, site.client() as client:
            client.send(get(b"/", b"content-length: %d" % BIG, method=b"POST"))

            async def send() -> None:
                for _ in range(BIG // 100_000):
                    client.send(b"x" * 100_000)
                    await client.writer.drain()

            sending = asyncio.create_task(send())
            (answer,) = await client.answers("POST")
            await sending
            assert answer.body == b"x" * BIG

    setup.run(main())


def test_refusal_reaches_a_client_that_is_still_sending(setup: Setup, hurry: None) -> None:
    """It reads after it has sent everything: a reset would have discarded the response."""

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await send(start(413, length(9)))
        await send(part(b"too large"))

    async def main() -> None:
        async with setup.serving(app) as site, site.client() as client:
            client.send(get(b"/", b"content-length: %d" % BIG, method=b"POST"))
            for _ in range(30):
                client.send(b"x" * 100_000)
                await client.writer.drain()
            (answer,) = await client.answers("POST")
            assert (answer.status, answer.body) == (413, b"too large")

    setup.run(main())


def test_client_of_http_1_0_sees_the_end(setup: Setup) -> None:
    async def main() -> None:
        async with setup.serving(echo_in_parts) as site, site.client() as client:
            client.send(post(b"hello", version=b"1.0"))
            (answer,) = await client.answers("POST")
            assert (answer.body, b"content-length" in answer.headers) == (b"hello", False)

    setup.run(main())


def test_incomplete_response_is_recognisable(setup: Setup, caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await send(start())
        await send(part(b"half", more=True))

    async def main() -> None:
        async with setup.serving(app) as site, site.client() as client:
            client.send(get())
            try:
                data = await client.to_the_end()
            except OSError:
                return
            assert not data.endswith(b"0\r\n\r\n")

    setup.run(main())
    assert "without a complete response" in caplog.text


def test_client_that_leaves_is_noticed(setup: Setup) -> None:
    async def main() -> None:
        begun, noticed = asyncio.Event(), asyncio.Queue[str]()

        async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
            await receive()
            begun.set()
            noticed.put_nowait((await receive())["type"])

        async with setup.serving(app) as site:
            for leave in (Client.reset, lambda client: client.writer.close()):
                begun.clear()
                async with site.client() as client, asyncio.timeout(PATIENCE):
                    client.send(get())
                    await begun.wait()
                    leave(client)
                    assert await noticed.get() == "http.disconnect"

    setup.run(main())


def test_client_that_does_not_read_is_cut_off(setup: Setup, hurry: None) -> None:
    async def main() -> None:
        ended = asyncio.get_running_loop().create_future()

        async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
            await send(start())
            try:
                while True:
                    await send(part(b"x" * 100_000, more=True))
            except OSError as error:
                ended.set_result(error)

        async with setup.serving(app, write_timeout=0.2) as site, site.client(limit=1024) as client:
            cast(asyncio.Transport, client.writer.transport).pause_reading()
            client.send(get())
            async with asyncio.timeout(2 * PATIENCE):
                assert isinstance(await ended, OSError)
            client.reset()

    setup.run(main())


def test_client_that_asks_without_reading_is_cut_off(setup: Setup, hurry: None) -> None:
    """Small responses do not pile up either."""

    async def main() -> None:
        served = 0

        async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
            nonlocal served
            served += 1
            whole_send(send).respond(200, (), b"x" * 10_000)

        async with setup.serving(app, write_timeout=0.2) as site, site.client(limit=1024) as client:
            cast(asyncio.Transport, client.writer.transport).pause_reading()
            # A client that does not read notices the reset when it writes.
            async with asyncio.timeout(2 * PATIENCE):
                with pytest.raises(OSError):
                    while True:
                        client.send(get() * 1000)
                        await client.writer.drain()
            assert served < 20_000
            client.writer.transport.abort()

    setup.run(main())


def test_silent_and_slow_clients_are_closed(setup: Setup, hurry: None) -> None:
    async def main() -> None:
        async with setup.serving(echo, head_timeout=0.2, keep_alive=0.2) as site:
            async with site.client() as client:
                assert await client.to_the_end() == b""
            async with site.client() as client:
                client.send(get()[:-1])
                assert [each.status for each in await client.answers("GET")] == [408]
            async with site.client() as client:
                client.send(get())
                assert [each.status for each in await client.answers("GET")] == [200]

    setup.run(main())


def test_too_many_clients(setup: Setup) -> None:
    async def main() -> None:
        async with setup.serving(echo, connections=1) as site, site.client() as first:
            first.send(get())
            assert (await first.some()).startswith(b"HTTP/1.1 200 ")
            async with site.client() as second:
                assert (await second.some()).startswith(b"HTTP/1.1 503 ")
            first.send(get(b"/", b"connection: close"))
            assert [each.status for each in await first.answers("GET")] == [200]

    setup.run(main())


# Stopping


def test_idle_clients_are_closed_at_once_and_busy_ones_finish(setup: Setup) -> None:
    async def main() -> None:
        begun, door = asyncio.Event(), asyncio.Event()

        async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
            if scope["path"] == "/busy":
                begun.set()
                await door.wait()
            await echo(scope, receive, send)

        async with setup.serving(app, drain=60.0) as site, site.client() as busy, site.client() as idle:
            idle.send(get())
            assert await idle.some()
            busy.send(get(b"/busy"))
            await begun.wait()
            stopping = asyncio.create_task(site.stop())
            assert await idle.to_the_end() == b""
            assert not stopping.done()
            with pytest.raises(OSError):
                async with site.client():
                    raise AssertionError("not reached")
            door.set()
            (answer,) = await busy.answers("GET")
            assert (answer.status, answer.headers[b"connection"]) == (200, b"close")
            await stopping

    setup.run(main())


def test_stuck_requests_are_cut(setup: Setup) -> None:
    async def main() -> None:
        begun = asyncio.Event()

        async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
            begun.set()
            await asyncio.Event().wait()

        async with setup.serving(app, drain=0.1) as site, site.client() as client:
            client.send(get())
            await begun.wait()
            await site.stop()
            with contextlib.suppress(ConnectionError):
                assert await client.to_the_end() == b""

    setup.run(main())


# Listening


@pytest.mark.parametrize(
    ("host", "displayed"),
    [
        ("127.0.0.1", "localhost"),
        ("0.0.0.0", "localhost"),
        ("::", "localhost"),
        ("fd00::1", "[fd00::1]"),
        ("api.example", "api.example"),
    ],
)
def test_url_is_one_that_a_client_can_use(host: str, displayed: str) -> None:
    assert _display_host(host) == displayed


def test_address_in_use_is_an_error_that_leaves_nothing_open() -> None:
    with listen("127.0.0.1", 0) as bound, pytest.raises(OSError):
        # SO_REUSEADDR does not share a port that is listened on.
        listen("127.0.0.1", bound.getsockname()[1])


def test_small_responses_do_not_wait_for_each_other() -> None:
    """Without TCP_NODELAY each would take 40 ms; asyncio sets it only for sockets that say they are TCP."""

    async def main() -> None:
        options: list[int] = []

        async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
            transport = cast(Any, send)._connection._transport
            sock = transport.get_extra_info("socket")
            options.append(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            await echo(scope, receive, send)

        async with Setup(asyncio.run, None).serving(app) as site, site.client() as client:
            client.send(get(b"/", b"connection: close"))
            await client.to_the_end()
        assert options != [0]

    asyncio.run(main())


def test_server_runs_in_another_thread(capsys: pytest.CaptureFixture[str]) -> None:
    """As in notebooks and tests. Signals reach the main thread only, and do not stop the server."""
    server = Server("threaded")
    urls: list[str] = []
    ready = threading.Event()

    def announce(url: str) -> None:
        urls.append(url)
        ready.set()

    app = server.asgi()

    def run() -> None:
        serve_http(app, host="127.0.0.1", port=0, limits=Limits(), announce=announce)

    threading.Thread(target=run, daemon=True).start()
    assert ready.wait(PATIENCE)
    port = int(urls[0].rpartition(":")[2].removesuffix("/mcp"))
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        client.sendall(get(b"/", b"connection: close"))
        assert client.recv(65536).startswith(b"HTTP/1.1 404 ")
    assert capsys.readouterr().err == ""
