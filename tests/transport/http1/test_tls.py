"""TLS: real handshakes, with and without client certificates, on HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import NameOID
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from assay import Context, Server
from assay.model.error import TlsError
from assay.model.limits import Limits
from assay.transport.http1.listening import listen
from assay.transport.http1.server import serve
from assay.transport.http1.tls import distinguished_name, make_context
from tests.driving.answer import PATIENCE
from tests.driving.certificates import DAY, PEM, PKCS8, Authority, Pair, named
from tests.driving.messages import call

Run = Callable[[Coroutine[Any, Any, None]], None]
LENGTH = (b"content-length", b"2")
REFUSED = (ssl.SSLError, ConnectionError, EOFError, WebSocketException)
"""What a client gets that is refused during the handshake, or, with TLS 1.3, directly after it."""


class Keys(NamedTuple):
    authority: Authority
    stranger: Authority
    server: Pair
    ann: Pair
    bob: Pair
    mallory: Pair


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    folder = tmp_path_factory.mktemp("keys")
    authority, stranger = Authority(folder, "authority"), Authority(folder, "stranger")
    issue = authority.issue
    return Keys(authority, stranger, issue("server"), issue("ann"), issue("bob"), stranger.issue("mallory"))


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    runner: Run = request.param
    return runner


def make_server() -> Server:
    server = Server("secret")

    @server.tool
    async def who(ctx: Context) -> str:
        return repr(ctx.principal)

    @server.tool
    async def count(ctx: Context) -> str:
        ctx.session["count"] = ctx.session.get("count", 0) + 1
        return str(ctx.session["count"])

    return server


@contextlib.asynccontextmanager
async def serving(app: Any, context: ssl.SSLContext | None, **limits: Any) -> AsyncIterator[int]:
    bound, stop = listen("127.0.0.1", 0), asyncio.Event()
    task = asyncio.create_task(serve(app, bound, stop.wait, limits=Limits(drain=1.0, **limits), tls=context))
    try:
        yield bound.getsockname()[1]
    finally:
        stop.set()
        async with asyncio.timeout(2 * PATIENCE):
            await task


async def post(port: int, context: ssl.SSLContext, message: Any) -> Any:
    """Send one request on a new connection."""
    body = json.dumps(message).encode()
    head = (
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n"
        f"accept: application/json, text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    async with asyncio.timeout(2 * PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        try:
            writer.write(head.encode() + body)
            answer = await reader.read()
        finally:
            writer.close()
            with contextlib.suppress(*REFUSED):
                await writer.wait_closed()
    if not answer:
        raise EOFError
    return json.loads(answer.partition(b"\r\n\r\n")[2])


async def ask_by_socket(port: int, context: ssl.SSLContext, message: Any) -> Any:
    url = f"wss://localhost:{port}/mcp/ws"
    async with (
        asyncio.timeout(2 * PATIENCE),
        connect(url, ssl=context, subprotocols=["mcp"], proxy=None) as socket,  # type: ignore[list-item]
    ):
        about = {"protocolVersion": "2025-11-25", "capabilities": {}}
        params = {**about, "clientInfo": {"name": "a", "version": "1"}}
        await socket.send(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
        await socket.recv()
        await socket.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        await socket.send(json.dumps(message))
        return json.loads(await socket.recv())


ASK = pytest.mark.parametrize("ask", [post, ask_by_socket], ids=["https", "wss"])


def text_of(answer: Any) -> str:
    text: str = answer["result"]["content"][0]["text"]
    return text


@ASK
def test_client_that_trusts_the_certificate_is_served(ask: Any, keys: Keys, run: Run) -> None:
    async def main() -> None:
        async with serving(make_server().asgi(), make_context(*keys.server, None)) as port:
            assert text_of(await ask(port, keys.authority.client_context(), call("who"))) == "None"

    run(main())


@ASK
def test_client_without_a_required_certificate_is_refused(ask: Any, keys: Keys, run: Run) -> None:
    async def main() -> None:
        app = make_server().asgi()
        async with serving(app, make_context(*keys.server, keys.authority.file)) as port:
            with pytest.raises(REFUSED):
                await ask(port, keys.authority.client_context(), call("who"))

    run(main())


@ASK
def test_a_certificate_of_another_authority_is_refused(ask: Any, keys: Keys, run: Run) -> None:
    async def main() -> None:
        app = make_server().asgi()
        async with serving(app, make_context(*keys.server, keys.authority.file)) as port:
            with pytest.raises(REFUSED):
                await ask(port, keys.authority.client_context(keys.mallory), call("who"))

    run(main())


@ASK
def test_the_subject_of_the_certificate_is_the_principal(ask: Any, keys: Keys, run: Run) -> None:
    async def main() -> None:
        app = make_server().asgi()
        async with serving(app, make_context(*keys.server, keys.authority.file)) as port:
            for pair, name in ((keys.ann, "CN=ann"), (keys.bob, "CN=bob")):
                answer = await ask(port, keys.authority.client_context(pair), call("who"))
                assert text_of(answer) == repr(name)

    run(main())


async def test_state_belongs_to_the_subject_of_the_certificate(keys: Keys) -> None:
    async with serving(make_server().asgi(), make_context(*keys.server, keys.authority.file)) as port:
        ann, bob = (keys.authority.client_context(pair) for pair in (keys.ann, keys.bob))
        counts = [text_of(await post(port, client, call("count"))) for client in (ann, ann, bob)]
        assert counts == ["1", "2", "1"]


async def test_the_certificate_is_in_the_asgi_scope(keys: Keys) -> None:
    extensions: list[Any] = []

    class App:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            extensions.append(scope["extensions"])
            await send({"type": "http.response.start", "status": 200, "headers": [LENGTH]})
            await send({"type": "http.response.body", "body": b"{}"})

        async def close(self) -> None: ...

    async with serving(App(), make_context(*keys.server, keys.authority.file)) as port:
        await post(port, keys.authority.client_context(keys.ann), {})
    tls = extensions[0]["tls"]
    assert list(tls["client_cert_chain"]) == [keys.ann.cert.read_text()]
    assert (tls["client_cert_name"], tls["client_cert_error"]) == ("CN=ann", None)
    assert tls["tls_version"] == 0x0304


async def test_a_certificate_without_a_subject_is_identified_by_its_fingerprint(keys: Keys) -> None:
    nobody = keys.authority.issue("nobody", x509.Name([]))
    async with serving(make_server().asgi(), make_context(*keys.server, keys.authority.file)) as port:
        name = text_of(await post(port, keys.authority.client_context(nobody), call("who")))
    certificate = ssl.PEM_cert_to_DER_cert(nobody.cert.read_text())
    assert name == repr(f"sha256:{sha256(certificate).hexdigest()}")


async def test_tls_1_1_is_too_old(keys: Keys) -> None:
    assert make_context(*keys.server, None).minimum_version is ssl.TLSVersion.TLSv1_2  # type: ignore[union-attr]


async def test_plain_http_gets_no_response(keys: Keys) -> None:
    async with serving(make_server().asgi(), make_context(*keys.server, None)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(2 * PATIENCE):
                assert not (await reader.read()).startswith(b"HTTP")
        writer.close()


@ASK
def test_an_expired_certificate_is_refused(ask: Any, keys: Keys, run: Run) -> None:
    async def main() -> None:
        expired = keys.authority.issue("expired", ends=-DAY / 2)
        context = make_context(*keys.server, keys.authority.file)
        async with serving(make_server().asgi(), context) as port:
            with pytest.raises(REFUSED):
                await ask(port, keys.authority.client_context(expired), call("who"))

    run(main())


def test_client_without_a_handshake_is_cut_off(keys: Keys, run: Run) -> None:
    async def main() -> None:
        context = make_context(*keys.server, None)
        async with serving(make_server().asgi(), context, head_timeout=0.1) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            async with asyncio.timeout(2 * PATIENCE):
                assert await reader.read() == b""
            writer.close()

    run(main())


def test_one_file_may_contain_key_and_certificate(keys: Keys, tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(keys.server.key.read_bytes() + keys.server.cert.read_bytes())
    assert make_context(both, None, None) is not None


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (("missing", "server.key", None), "certificate missing: No such file"),
        ((".", "server.key", None), "certificate .: Is a directory"),
        (("server.pem", "missing", None), "key missing: No such file"),
        (("server.pem", "server.key", "missing"), "client authority missing: No such file"),
        (("junk", "server.key", None), "certificate junk contains no readable PEM"),
        (("server.key", None, None), "certificate server.key contains no readable PEM"),
        (("server.pem", "junk", None), "key junk contains no usable PEM private key"),
        (("server.pem", None, None), "key server.pem contains no usable PEM private key"),
        (("server.pem", "ann.key", None), "key ann.key does not belong to certificate server.pem"),
        (("server.pem", "locked.key", None), "key locked.key is encrypted"),
        (("server.pem", "server.key", "junk"), "client authority junk contains no readable PEM"),
        (("server.pem", "server.key", "server.key"), "client authority server.key contains no readable PEM"),
        ((None, "server.key", None), "needs a server certificate"),
        ((None, None, "server.pem"), "needs a server certificate"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_unusable_file_is_named(
    files: tuple[str | None, ...], problem: str, keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (*keys.server, *keys.ann):
        Path(path.name).write_bytes(path.read_bytes())
    Path("junk").write_bytes(b"\xff\x00-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")
    key = serialization.load_pem_private_key(keys.server.key.read_bytes(), None)
    locked = key.private_bytes(PEM, PKCS8, serialization.BestAvailableEncryption(b"secret"))
    Path("locked.key").write_bytes(locked)
    with pytest.raises(TlsError) as caught:
        make_context(*files)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


NAMES = [
    named(
        (NameOID.COUNTRY_NAME, "DE"), (NameOID.ORGANIZATION_NAME, "A, B + C"), (NameOID.COMMON_NAME, "ann")
    ),
    named((NameOID.COMMON_NAME, ' #"<>;=\\ ')),
    named((NameOID.COMMON_NAME, "#first"), (NameOID.DOMAIN_COMPONENT, "example"), (NameOID.USER_ID, "u1")),
    named((NameOID.COMMON_NAME, "Jürgen"), (NameOID.STATE_OR_PROVINCE_NAME, "Bayern")),
    named((NameOID.COMMON_NAME, "ann,CN=bob")),
    named((NameOID.COMMON_NAME, " ")),
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.rfc4514_string())
def test_a_name_is_formatted_by_rfc_4514(name: x509.Name) -> None:
    long = {NameOID.USER_ID: "userId", NameOID.DOMAIN_COMPONENT: "domainComponent"}
    taken_apart = [
        [(long.get(part.oid, part.oid._name), str(part.value)) for part in several] for several in name.rdns
    ]
    assert distinguished_name(taken_apart) == name.rfc4514_string()


async def silent_client(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client that does not begin its handshake."""
    return await asyncio.open_connection("127.0.0.1", port)


def test_handshakes_in_progress_count_as_connections(
    keys: Keys, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.transport.http1.tls_listener.REFUSED_CONNECTIONS", 0)

    async def main() -> None:
        app, context = make_server().asgi(), make_context(*keys.server, None)
        async with serving(app, context, connections=3) as port, asyncio.timeout(PATIENCE):
            clients = [await silent_client(port) for _ in range(4)]
            assert await clients[3][0].read() == b""
            for _, writer in clients:
                writer.close()
            answer = None
            while answer is None:  # until the server has noticed
                with contextlib.suppress(*REFUSED):
                    answer = await post(port, keys.authority.client_context(), call("who"))
            assert text_of(answer) == "None"

    run(main())


def test_failed_handshakes_free_their_places(keys: Keys, run: Run) -> None:
    async def main() -> None:
        app, context = make_server().asgi(), make_context(*keys.server, None)
        async with serving(app, context, connections=1) as port, asyncio.timeout(PATIENCE):
            for _ in range(5):
                reader, writer = await silent_client(port)
                writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
                with contextlib.suppress(ConnectionError):
                    await reader.read()
                writer.close()
            assert text_of(await post(port, keys.authority.client_context(), call("who"))) == "None"

    run(main())


def test_handshakes_in_progress_do_not_delay_the_end(keys: Keys, run: Run) -> None:
    async def main() -> None:
        app, context = make_server().asgi(), make_context(*keys.server, None)
        async with serving(app, context, head_timeout=600.0) as port:
            reader, writer = await silent_client(port)
            # Connections are accepted in order, so the silent client's handshake has begun.
            await post(port, keys.authority.client_context(), call("who"))
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
        writer.close()

    run(main())
