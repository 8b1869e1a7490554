"""Fetch from untrusted URLs: addresses that are never contacted, and responses that are refused."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from assay.authority.fetch import CONCURRENT, NotFetched, get_from, guarded_fetch, lifetime_of, resolve
from assay.authority.settings import Bounds
from assay.model.limits import Limits
from assay.transport.http1.listening import listen
from assay.transport.http1.server import serve
from tests.driving.certificates import Authority
from tests.driving.hosts import on_assay

Send = Callable[[dict[str, Any]], Awaitable[None]]


class Site:
    """Answers every request in the same way."""

    def __init__(
        self, body: bytes, *, status: int = 200, media_type: str = "application/json", **more: str
    ) -> None:
        self._start = {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", media_type.encode()),
                *((name.encode(), value.encode()) for name, value in more.items()),
            ],
        }
        self._body = {"type": "http.response.body", "body": body}
        self.hosts: list[bytes] = []

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        self.hosts.append(dict(scope["headers"])[b"host"])
        await send(self._start)
        await send(self._body)

    async def close(self) -> None:
        pass


def resolving(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    async def lookup(host: str, port: int) -> list[str]:
        if not addresses:
            raise OSError("no such host")
        return list(addresses)

    return lookup


async def unasked(host: str, port: int) -> list[str]:
    raise AssertionError("looked up")


@pytest.mark.parametrize(
    "addresses",
    [
        [],
        ["127.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["10.0.0.1"],
        ["172.16.3.4"],
        ["192.168.1.1"],
        ["169.254.169.254"],
        ["100.64.0.1"],
        ["fd00::1"],
        ["fe80::1%eth0"],
        ["::7f00:1"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::"],
        ["fec0::1"],
        ["0.0.0.0"],
        ["224.0.0.1"],
        ["93.184.215.14", "10.0.0.1"],
    ],
)
async def test_an_address_that_is_not_public_is_not_asked(addresses: list[str]) -> None:
    for loopback in (False, True):
        fetch = guarded_fetch(Bounds(), loopback=loopback, resolve=resolving(*addresses))
        with pytest.raises(NotFetched, match=r"public network|no such host"):
            await fetch("https://app.example/client.json")


@pytest.mark.parametrize("url", ["http://app.example/c", "http://127.0.0.1:1/c", "ftp://app.example/c"])
async def test_nothing_but_https_is_asked(url: str) -> None:
    with pytest.raises(NotFetched, match="https"):
        await guarded_fetch(Bounds(), resolve=unasked)(url)


async def test_what_is_no_url_is_not_asked() -> None:
    with pytest.raises(NotFetched, match="not a URL"):
        await guarded_fetch(Bounds(), resolve=unasked)("https://[::1")


@pytest.mark.parametrize("url", ["https://a.example:1/\x00", "https://\xe9.example:1/"])
async def test_an_unsendable_url_is_reported(url: str) -> None:
    with pytest.raises(NotFetched, match="no answer"):
        await get_from("127.0.0.1", url, 10)


async def test_a_name_of_this_machine_that_leads_elsewhere_is_not_followed() -> None:
    fetch = guarded_fetch(Bounds(), loopback=True, resolve=resolving("10.0.0.1"))
    with pytest.raises(NotFetched, match="public network"):
        await fetch("http://localhost:1/c")


async def test_a_document_of_this_machine_is_fetched_where_that_is_allowed() -> None:
    site = Site(b'{"client_id": "x"}', **{"cache-control": "max-age=7"})
    async with on_assay(site) as port:
        fetched = await guarded_fetch(Bounds(), loopback=True)(f"http://127.0.0.1:{port}/c")
    assert fetched == ({"client_id": "x"}, 7.0)
    assert site.hosts == [f"127.0.0.1:{port}".encode()]


@pytest.mark.parametrize(
    ("site", "reason"),
    [
        (Site(b"{}", status=404), "404"),
        (Site(b"", status=302, location="http://127.0.0.1:1/"), "302"),
        (Site(b"{}", media_type="text/html"), "application/json"),
        (Site(b"{}", **{"content-encoding": "gzip"}), "compressed"),
        (Site(b"[]"), "not a JSON object"),
        (Site(b"{"), "not a JSON object"),
        (Site(b"[" * 10_000), "not a JSON object"),
        (Site(b"\xff"), "not a JSON object"),
        (Site(b'{"a": "%s"}' % (b"x" * 20_000)), "more than"),
    ],
)
async def test_what_is_no_document_is_not_taken(site: Site, reason: str) -> None:
    async with on_assay(site) as port:
        with pytest.raises(NotFetched, match=reason):
            await guarded_fetch(Bounds(), loopback=True)(f"http://127.0.0.1:{port}/c")


@contextlib.asynccontextmanager
async def under_tls(site: Site, authority: Authority) -> AsyncIterator[int]:
    """A server on this machine, with a certificate for `localhost` and 127.0.0.1."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("site"))
    bound, stop = listen("127.0.0.1", 0), asyncio.Event()
    task = asyncio.create_task(serve(site, bound, stop.wait, limits=Limits(drain=1.0), tls=context))
    try:
        yield bound.getsockname()[1]
    finally:
        stop.set()
        await task


async def test_the_certificate_must_be_of_the_name_in_the_url_whichever_address_is_asked(
    tmp_path: Path,
) -> None:
    authority, site = Authority(tmp_path, "authority"), Site(b"{}")
    async with under_tls(site, authority) as port:
        trust = authority.client_context()
        assert await get_from("127.0.0.1", f"https://localhost:{port}/c", 100, trust) == ({}, None)
        for url, trusted in ((f"https://app.example:{port}/c", trust), (f"https://localhost:{port}/c", None)):
            with pytest.raises(NotFetched, match="no answer"):
                await get_from("127.0.0.1", url, 100, trusted)
    assert site.hosts == [f"localhost:{port}".encode()]


async def test_a_slow_server_is_not_waited_for() -> None:
    async def never(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(NotFetched, match="no answer within"):
        await guarded_fetch(Bounds(fetch_seconds=0.01), resolve=never)("https://app.example/c")


async def test_no_more_documents_are_fetched_at_once_than_a_bound() -> None:
    answered, under_way, most = asyncio.Event(), 0, 0

    async def later(host: str, port: int) -> list[str]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == CONCURRENT:
            asyncio.get_running_loop().call_soon(answered.set)
        await answered.wait()
        under_way -= 1
        return ["10.0.0.1"]

    fetch = guarded_fetch(Bounds(), resolve=later)
    requests = (fetch(f"https://app.example/{number}") for number in range(CONCURRENT + 5))
    outcomes = await asyncio.gather(*requests, return_exceptions=True)
    assert all(isinstance(each, NotFetched) for each in outcomes)
    assert most == CONCURRENT


async def test_a_refused_connection_is_reported() -> None:
    async with on_assay(Site(b"{}")) as port:
        closed = port
    with pytest.raises(NotFetched, match="no answer"):
        await guarded_fetch(Bounds(), loopback=True)(f"http://127.0.0.1:{closed}/c")


async def test_this_machine_is_found_by_its_name() -> None:
    assert set(await resolve("localhost", 80)) <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", None),
        ("public", None),
        ("max-age=60", 60.0),
        ("public, Max-Age=60", 60.0),
        ("max-age=999999999", 86_400.0),
        ("no-store", 0.0),
        ("no-cache, max-age=60", 0.0),
        ("s-maxage=5", None),
    ],
)
def test_how_long_a_document_may_be_kept(header: str, seconds: float | None) -> None:
    assert lifetime_of(header) == seconds
