"""Keys of an issuer: found, kept, rotated, and never fetched as often as strangers like."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assay.auth.denial import Unavailable
from assay.auth.fetch import DOCUMENT_BYTES
from assay.auth.key_ring import KEYS, TRUSTED, KeyRing, loader, metadata_addresses, read_keys
from assay.auth.signature import make_key
from tests.auth.issuing import Issuer, ec_key, ed_key, issuing, private_jwk, public_jwk, rsa_key

OLD, NEW = public_jwk(ec_key(), kid="old"), public_jwk(ec_key("second"), kid="new")


class ManualClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Source:
    """A key set that changes; `visits` counts how often it was asked for."""

    def __init__(self, *keys: Any) -> None:
        self.keys = list(keys)
        self.visits = 0
        self.fails = False
        self.visited = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self) -> dict[str, Any]:
        self.visits += 1
        self.visited.set()
        await self.open.wait()
        if self.fails:
            raise Unavailable("not now")
        return {"keys": list(self.keys)}


async def kids(ring: KeyRing, kid: str | None, algorithm: str = "ES256") -> list[str | None]:
    return [key.kid for key in await ring.find(kid, algorithm)]


async def test_keys_are_fetched_once_and_kept() -> None:
    clock, source = ManualClock(), Source(OLD)
    ring = KeyRing(source, kept=300, clock=clock)
    for _ in range(5):
        assert await kids(ring, "old") == ["old"]
    assert source.visits == 1
    clock.now += 300
    assert await kids(ring, "old") == ["old"]
    assert source.visits == 2


async def test_a_new_key_is_found_and_a_removed_one_forgotten() -> None:
    clock, source, changes = ManualClock(), Source(OLD), [0]
    ring = KeyRing(source, pause=10, clock=clock, changed=lambda: changes.append(1))
    assert await kids(ring, "old") == ["old"]
    source.keys = [NEW]
    clock.now += 10
    assert await kids(ring, "new") == ["new"]
    assert await kids(ring, "old") == []
    assert sum(changes) == 2


async def test_unknown_names_cause_one_visit_in_each_pause() -> None:
    clock, source = ManualClock(), Source(OLD)
    ring = KeyRing(source, kept=3600, pause=10, clock=clock)
    for number in range(100):
        assert await kids(ring, f"made up {number}") == []
        clock.now += 1
    assert source.visits == 10


async def test_those_who_come_together_wait_for_one_visit() -> None:
    source = Source(OLD)
    source.open.clear()
    ring = KeyRing(source, clock=ManualClock())
    waiting = [asyncio.create_task(kids(ring, "old")) for _ in range(20)]
    await source.visited.wait()
    waiting[0].cancel()
    source.open.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(found[0], asyncio.CancelledError)
    assert found[1:] == [["old"]] * 19
    assert source.visits == 1


async def test_old_keys_serve_while_the_issuer_is_away() -> None:
    clock, source = ManualClock(), Source(OLD)
    ring = KeyRing(source, kept=300, pause=10, clock=clock)
    assert await kids(ring, "old") == ["old"]
    source.fails = True
    clock.now += 300
    assert await kids(ring, "old") == ["old"]
    assert await kids(ring, "old") == ["old"]
    assert source.visits == 2
    source.fails, source.keys = False, [OLD, NEW]
    clock.now += 10
    assert await kids(ring, "new") == ["new"]


async def test_old_keys_do_not_serve_for_ever() -> None:
    clock, source, changes = ManualClock(), Source(OLD), [0]
    ring = KeyRing(source, kept=300, clock=clock, changed=lambda: changes.append(1))
    assert await kids(ring, "old") == ["old"]
    source.fails = True
    clock.now += 300 + TRUSTED
    with pytest.raises(Unavailable):
        await ring.find("old", "ES256")
    assert sum(changes) == 2
    source.fails = False
    clock.now += 10
    assert await kids(ring, "old") == ["old"]


@pytest.mark.parametrize("left", [[], [{**OLD, "use": "enc"}]], ids=["none", "none for signatures"])
async def test_an_issuer_that_has_no_key_left_has_taken_them_back(left: list[Any]) -> None:
    clock, source, changes = ManualClock(), Source(OLD), [0]
    ring = KeyRing(source, kept=300, pause=10, clock=clock, changed=lambda: changes.append(1))
    assert await kids(ring, "old") == ["old"]
    source.keys = left
    clock.now += 300
    with pytest.raises(Unavailable):
        await ring.find("old", "ES256")
    assert sum(changes) == 2
    source.keys = [OLD]
    clock.now += 10
    assert await kids(ring, "old") == ["old"]


async def test_without_any_key_nobody_can_say() -> None:
    source = Source()
    ring = KeyRing(source, clock=ManualClock())
    for _ in range(3):
        with pytest.raises(Unavailable):
            await ring.find("old", "ES256")
    assert source.visits == 1


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
def test_keys_that_could_check_no_signature_are_passed_by(change: dict[str, Any]) -> None:
    assert make_key({**OLD, **change}) is None
    assert [key.kid for key in read_keys({"keys": [{**OLD, **change}, NEW]})] == ["new"]


@pytest.mark.parametrize(
    "strange", [None, 7, "key", [], {}, private_jwk(ec_key())], ids=lambda v: type(v).__name__
)
def test_what_is_no_public_key_is_passed_by(strange: Any) -> None:
    assert make_key(strange) is None


def test_short_rsa_keys_do_not_count() -> None:
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
def test_a_set_without_a_usable_key_is_none(document: dict[str, Any]) -> None:
    with pytest.raises(Unavailable, match="no key"):
        read_keys(document)


def test_a_huge_set_is_read_in_part() -> None:
    assert len(read_keys({"keys": [OLD] * (KEYS + 10)})) == KEYS


def test_an_issuer_tells_of_itself_in_two_places_or_three() -> None:
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
    async with issuing() as issuer:
        expected = {"keys": issuer.keys}
        file = tmp_path / "keys.json"
        file.write_text(json.dumps(expected))
        for jwks in (issuer.jwks, str(file), file, expected, None):
            assert await loaded(issuer, jwks) == expected


async def test_metadata_of_another_issuer_does_not_count() -> None:
    async with issuing() as issuer:
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
async def test_what_is_no_key_set_is_not_believed(status: int, answer: bytes | None, reason: str) -> None:
    async with issuing() as issuer:
        issuer.status, issuer.answer = status, answer
        with pytest.raises(Unavailable, match=reason):
            await loaded(issuer, issuer.jwks)
        assert issuer.fetched == 1


async def test_an_issuer_that_is_not_there_is_named() -> None:
    async with issuing() as issuer:
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
