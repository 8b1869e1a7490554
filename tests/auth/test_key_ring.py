"""An issuer's keys: loaded, cached, rotated, and refreshed at a bounded rate."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assay.auth.error import Unavailable
from assay.auth.fetch import DOCUMENT_BYTES
from assay.auth.key_ring import KEYS, STALE_SECONDS, KeyRing, loader, metadata_addresses, read_keys
from assay.auth.signature import make_key
from tests.auth.issuer import Issuer, ec_key, ed_key, private_jwk, public_jwk, rsa_key, serve_issuer

OLD, NEW = public_jwk(ec_key(), kid="old"), public_jwk(ec_key("second"), kid="new")


class ManualClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Source:
    """A key set that changes; `loads` counts how often it was loaded."""

    def __init__(self, *keys: Any) -> None:
        self.keys = list(keys)
        self.loads = 0
        self.fails = False
        self.loading = asyncio.Event()
        self.released = asyncio.Event()
        self.released.set()

    async def __call__(self) -> dict[str, Any]:
        self.loads += 1
        self.loading.set()
        await self.released.wait()
        if self.fails:
            raise Unavailable("not now")
        return {"keys": list(self.keys)}


async def kids(ring: KeyRing, kid: str | None, algorithm: str = "ES256") -> list[str | None]:
    return [key.kid for key in await ring.find(kid, algorithm)]


async def test_keys_are_loaded_once_and_cached() -> None:
    clock, source = ManualClock(), Source(OLD)
    ring = KeyRing(source, lifetime=300, clock=clock)
    for _ in range(5):
        assert await kids(ring, "old") == ["old"]
    assert source.loads == 1
    clock.now += 300
    assert await kids(ring, "old") == ["old"]
    assert source.loads == 2


async def test_rotation_is_followed() -> None:
    clock, source, changes = ManualClock(), Source(OLD), [0]
    ring = KeyRing(source, pause=10, clock=clock, changed=lambda: changes.append(1))
    assert await kids(ring, "old") == ["old"]
    source.keys = [NEW]
    clock.now += 10
    assert await kids(ring, "new") == ["new"]
    assert await kids(ring, "old") == []
    assert sum(changes) == 2


async def test_unknown_key_ids_cause_one_refresh_per_pause() -> None:
    clock, source = ManualClock(), Source(OLD)
    ring = KeyRing(source, lifetime=3600, pause=10, clock=clock)
    for number in range(100):
        assert await kids(ring, f"made up {number}") == []
        clock.now += 1
    assert source.loads == 10


async def test_concurrent_callers_share_one_refresh() -> None:
    source = Source(OLD)
    source.released.clear()
    ring = KeyRing(source, clock=ManualClock())
    waiting = [asyncio.create_task(kids(ring, "old")) for _ in range(20)]
    await source.loading.wait()
    waiting[0].cancel()
    source.released.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(outcomes[0], asyncio.CancelledError)
    assert outcomes[1:] == [["old"]] * 19
    assert source.loads == 1


async def test_cached_keys_outlive_an_outage() -> None:
    clock, source = ManualClock(), Source(OLD)
    ring = KeyRing(source, lifetime=300, pause=10, clock=clock)
    assert await kids(ring, "old") == ["old"]
    source.fails = True
    clock.now += 300
    assert await kids(ring, "old") == ["old"]
    assert await kids(ring, "old") == ["old"]
    assert source.loads == 2
    source.fails, source.keys = False, [OLD, NEW]
    clock.now += 10
    assert await kids(ring, "new") == ["new"]


async def test_cached_keys_do_not_outlive_a_long_outage() -> None:
    clock, source, changes = ManualClock(), Source(OLD), [0]
    ring = KeyRing(source, lifetime=300, clock=clock, changed=lambda: changes.append(1))
    assert await kids(ring, "old") == ["old"]
    source.fails = True
    clock.now += 300 + STALE_SECONDS
    with pytest.raises(Unavailable):
        await ring.find("old", "ES256")
    assert sum(changes) == 2
    source.fails = False
    clock.now += 10
    assert await kids(ring, "old") == ["old"]


@pytest.mark.parametrize("left", [[], [{**OLD, "use": "enc"}]], ids=["none", "none for signatures"])
async def test_an_empty_key_set_withdraws_the_keys(left: list[Any]) -> None:
    clock, source, changes = ManualClock(), Source(OLD), [0]
    ring = KeyRing(source, lifetime=300, pause=10, clock=clock, changed=lambda: changes.append(1))
    assert await kids(ring, "old") == ["old"]
    source.keys = left
    clock.now += 300
    with pytest.raises(Unavailable):
        await ring.find("old", "ES256")
    assert sum(changes) == 2
    source.keys = [OLD]
    clock.now += 10
    assert await kids(ring, "old") == ["old"]


async def test_without_any_key_nothing_can_be_verified() -> None:
    source = Source()
    ring = KeyRing(source, clock=ManualClock())
    for _ in range(3):
        with pytest.raises(Unavailable):
            await ring.find("old", "ES256")
    assert source.loads == 1


@pytest.mark.parametrize(
    "change",
    [
        {"use": "enc"},
        {"key_ops": ["sign"]},
        {"key_ops": "verify"},
        {"alg": "RSA-OAEP"},
        {"alg": "HS256"},
        {"alg": 7},
        {"kty": "RSA"},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": "OKP"},
        {"crv": "secp256k1"},
        {"crv": ["P-256"]},
        {"x": "!"},
        {"x": "AAAA"},
        {"x": None},
        {"kid": 7},
    ],
    ids=str,
)
def test_keys_that_cannot_verify_signatures_are_skipped(change: dict[str, Any]) -> None:
    assert make_key({**OLD, **change}) is None
    assert [key.kid for key in read_keys({"keys": [{**OLD, **change}, NEW]})] == ["new"]


@pytest.mark.parametrize(
    "strange", [None, 7, "key", [], {}, private_jwk(ec_key())], ids=lambda v: type(v).__name__
)
def test_values_that_are_not_public_keys_are_skipped(strange: Any) -> None:
    assert make_key(strange) is None


def test_short_rsa_keys_are_skipped() -> None:
    assert make_key(public_jwk(rsa_key("short", 1024))) is None
    assert make_key(public_jwk(rsa_key())) is not None


@pytest.mark.parametrize(
    ("jwk", "algorithms"),
    [
        (public_jwk(ec_key()), {"ES256"}),
        (public_jwk(ed_key()), {"EdDSA"}),
        (public_jwk(rsa_key(), alg="PS256"), {"PS256"}),
        (public_jwk(rsa_key(), use="sig"), {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}),
    ],
    ids=["EC", "Ed25519", "RSA with alg", "RSA"],
)
def test_a_key_serves_the_algorithms_of_its_kind(jwk: dict[str, Any], algorithms: set[str]) -> None:
    key = make_key(jwk)
    assert key is not None
    assert key.algorithms == algorithms


@pytest.mark.parametrize(
    "document", [{}, {"keys": {}}, {"keys": []}, {"keys": [{"kty": "oct", "k": "AA"}]}], ids=str
)
def test_a_set_without_a_usable_key_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(Unavailable, match="no key"):
        read_keys(document)


def test_only_the_first_keys_of_a_huge_set_are_read() -> None:
    assert len(read_keys({"keys": [OLD] * (KEYS + 10)})) == KEYS


def test_metadata_is_looked_for_at_two_or_three_urls() -> None:
    assert metadata_addresses("https://as.example") == [
        "https://as.example/.well-known/oauth-authorization-server",
        "https://as.example/.well-known/openid-configuration",
    ]
    assert metadata_addresses("https://as.example/tenant") == [
        "https://as.example/.well-known/oauth-authorization-server/tenant",
        "https://as.example/.well-known/openid-configuration/tenant",
        "https://as.example/tenant/.well-known/openid-configuration",
    ]


async def loaded(issuer: Issuer, jwks: Any) -> Any:
    return await loader(jwks, issuer.url, allow_http=False)()


async def test_keys_come_from_a_url_a_file_a_document_or_the_issuers_metadata(tmp_path: Path) -> None:
    async with serve_issuer() as issuer:
        expected = {"keys": issuer.keys}
        file = tmp_path / "keys.json"
        file.write_text(json.dumps(expected))
        for jwks in (issuer.jwks, str(file), file, expected, None):
            assert await loaded(issuer, jwks) == expected


async def test_metadata_of_another_issuer_is_ignored() -> None:
    async with serve_issuer() as issuer:
        with pytest.raises(Unavailable, match="another issuer"):
            await loader(None, issuer.url.replace("127.0.0.1", "localhost"), allow_http=False)()


@pytest.mark.parametrize(
    ("status", "answer", "reason"),
    [
        (307, None, "status 307"),
        (500, None, "status 500"),
        (200, b"<html>", "JSON object"),
        (200, b"[]", "JSON object"),
        (200, b"[" * 100_000, "JSON object"),
        (200, b'"' + b"a" * DOCUMENT_BYTES + b'"', "more than"),
        (200, gzip.compress(b" " * DOCUMENT_BYTES), "compressed"),
    ],
    ids=["redirect", "failure", "HTML", "list", "deep", "huge", "compressed"],
)
async def test_other_responses_than_a_key_set_are_refused(
    status: int, answer: bytes | None, reason: str
) -> None:
    async with serve_issuer() as issuer:
        issuer.status, issuer.answer = status, answer
        with pytest.raises(Unavailable, match=reason):
            await loaded(issuer, issuer.jwks)
        assert issuer.requests == 1


async def test_an_unreachable_issuer_is_named() -> None:
    async with serve_issuer() as issuer:
        gone = issuer.jwks
    with pytest.raises(Unavailable, match="cannot be reached: ConnectError"):
        await loader(gone, issuer.url, allow_http=False)()


async def test_a_file_may_come_back(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [OLD]}))
    load = loader(file, "http://localhost", allow_http=False)
    file.unlink()
    with pytest.raises(Unavailable, match="cannot be read"):
        await load()
    file.write_text(json.dumps({"keys": [NEW]}))
    assert await load() == {"keys": [NEW]}
