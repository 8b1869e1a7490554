"""Encrypted requests of a flow go to an address that was checked, and still verify the name of the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import AuthorizationFailed
from assay.client.auth.http_client import HttpClient
from assay.protocol.oauth.effect import HttpRequest
from tests.client.test_tls import encrypted
from tests.driving.certificates import Authority


async def to_loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


async def get(address: str, host: str, authority: Authority | None) -> int:
    tls = None if authority is None else authority.client_context()
    url = f"https://{address.replace('127.0.0.1', host)}"
    http = HttpClient(url, tls=tls, resolve=to_loopback)
    return (await http.send(HttpRequest("GET", url))).status


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_trusted_server_is_asked(tmp_path: Path, host: str) -> None:
    authority = Authority(tmp_path, "authority")
    async with encrypted(authority) as address:
        assert await get(address, host, authority) in (200, 400, 405, 406)


async def test_the_certificate_of_another_host_is_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    async with encrypted(authority) as address:
        with pytest.raises(AuthorizationFailed, match=r"CERTIFICATE_VERIFY_FAILED.*pass tls="):
            await get(address, "as.example", authority)


async def test_an_untrusted_certificate_is_refused(tmp_path: Path) -> None:
    async with encrypted(Authority(tmp_path, "authority")) as address:
        with pytest.raises(AuthorizationFailed, match=r"CERTIFICATE_VERIFY_FAILED.*pass tls="):
            await get(address, "localhost", None)
