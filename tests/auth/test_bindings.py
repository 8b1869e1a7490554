"""Tokens that are bound to a certificate, and proofs that cannot be replayed."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from assay.auth import Auth
from assay.auth.cache import ExpiringCache
from assay.auth.dpop import DPoP, Nonces, Proofs, ReplayCache
from assay.model.limits import Limits
from assay.transport.http1.listening import listen
from assay.transport.http1.server import serve
from assay.transport.http1.tls import make_context
from tests.auth.endpoint import POSTED, make_server
from tests.auth.issuer import RESOURCE, Issuer, digest, ec_key, encoded, proof, thumbprint
from tests.auth.test_protected import GREET, authorization, local_app
from tests.driving.asgi import AsgiPeer
from tests.driving.certificates import Authority
from tests.store.backend import Backend


def certificates(folder: Path) -> tuple[str, str]:
    authority = Authority(folder, "authority")
    mine, theirs = (authority.issue(name).cert.read_text("ascii") for name in ("mine", "theirs"))
    return mine, theirs


def fingerprint(pem: str) -> str:
    return encoded(hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).digest())


async def test_a_token_bound_to_a_certificate_requires_it(tmp_path: Path) -> None:
    mine, theirs = certificates(tmp_path)
    issuer, app, greeted = local_app()
    headers = authorization(issuer.mint(cnf={"x5t#S256": fingerprint(mine)}))
    connections: list[tuple[Any, int]] = [
        ({"client_cert_chain": [mine]}, 200),
        ({"client_cert_chain": [theirs]}, 401),
        ({"client_cert_chain": [theirs, mine]}, 401),
        ({"client_cert_chain": [mine], "client_cert_error": "expired"}, 401),
        ({"client_cert_chain": []}, 401),
        (None, 401),
    ]
    for tls, status in connections:
        async with AsgiPeer(app, extensions={} if tls is None else {"tls": tls}) as client:
            answer = await client.post(GREET, headers=headers)
            assert answer.status == status
            assert ("invalid_token" in answer.headers.get("www-authenticate", "")) == (status == 401)
    assert len(greeted) == 1


def test_a_flood_of_proofs_permits_no_replay() -> None:
    used = ReplayCache(10)
    assert used.add(b"victim", 100.0, oldest=50.0)
    for number in range(50):
        used.add(b"flood %d" % number, 101.0, oldest=50.0)
    assert len(used) <= 10
    assert not used.add(b"victim", 100.0, oldest=50.0)


def test_expired_proofs_are_dropped() -> None:
    used = ReplayCache(10)
    for second in range(100):
        assert used.add(b"%d" % second, float(second), oldest=second - 5.0)
    assert len(used) <= 7


def test_a_nonce_is_good_for_two_periods_and_of_one_key() -> None:
    moments = [1000.0]
    mine, theirs = (Nonces(key, 60, lambda: moments[0]) for key in (b"mine", b"theirs"))
    nonce = mine.current()
    assert mine.accepts(nonce)
    assert not theirs.accepts(nonce)
    moments[0] += 60
    assert mine.accepts(nonce)
    moments[0] += 60
    assert not mine.accepts(nonce)


@pytest.mark.parametrize(
    "htu",
    [
        "http://localhost:3000/mcp?a=b",
        "HTTP://LOCALHOST:3000/mcp#c",
        "ws://localhost:3000/mcp",
        "http://localhost:3000/%6Dcp",
    ],
)
def test_addresses_in_proofs_are_compared_as_addresses(htu: str) -> None:
    token = "token"
    text = proof(token, htu=htu).encode()
    Proofs(DPoP(), time.time).check([text], token.encode(), thumbprint(ec_key("holder")), ("POST", RESOURCE))


def test_the_cache_is_bounded_and_its_entries_expire() -> None:
    cache: ExpiringCache[int] = ExpiringCache(2)
    cache.put(b"a", 1, until=10)
    cache.put(b"b", 2, until=20)
    assert cache.get(b"a", now=5) == 1
    cache.put(b"c", 3, until=20)
    assert [cache.get(name, now=5) for name in (b"a", b"b", b"c")] == [1, None, 3]
    assert cache.get(b"a", now=10) is None
    assert len(cache) == 1


def test_a_thumbprint_is_that_of_the_rfc() -> None:
    """RFC 7638, 3.1."""
    from assay.auth.signature import thumbprint as ours

    n = (
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRX"
        "jBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqz"
        "s8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-"
        "G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
    )
    assert ours({"kty": "RSA", "n": n, "e": "AQAB", "alg": "RS256", "kid": "x"}) == (
        "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
    )
    assert digest("") == "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"


async def test_a_bound_token_is_accepted_with_its_tls_certificate_only(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    here_, mine, theirs = (authority.issue(name) for name in ("server", "mine", "theirs"))
    issuer, app, greeted = local_app()
    headers = {**authorization(issuer.mint(cnf={"x5t#S256": fingerprint(mine.cert.read_text())})), **POSTED}
    bound, stop = listen("127.0.0.1", 0), asyncio.Event()
    tls = make_context(here_.cert, here_.key, authority.file)
    serving = asyncio.create_task(serve(app, bound, stop.wait, limits=Limits(), tls=tls))
    url = f"https://localhost:{bound.getsockname()[1]}/mcp"
    for pair, status in ((mine, 200), (theirs, 401)):
        context = ssl.create_default_context(cafile=str(authority.file))
        context.load_cert_chain(pair.cert, pair.key)
        async with httpx2.AsyncClient(verify=context, trust_env=False) as client:
            assert (await client.post(url, json=GREET, headers=headers)).status_code == status
    stop.set()
    await serving
    assert len(greeted) == 1


async def test_a_proof_that_another_process_has_seen_is_refused(backend: Backend) -> None:
    issuer = Issuer()
    issuer.url = "https://as.example"
    settings: dict[str, Any] = {"issuer": issuer.url, "audience": RESOURCE, "jwks": {"keys": issuer.keys}}
    token = issuer.mint(cnf={"jkt": thumbprint(ec_key("holder"))})
    headers = {"authorization": f"DPoP {token}", "dpop": proof(token)}
    statuses = []
    for _ in range(2):
        server = make_server([], auth=Auth(**settings), store=backend.url)
        async with AsgiPeer(server.asgi()) as client:
            statuses += [(await client.post(GREET, headers=headers)).status for _ in range(2)]
        await server.stop()
    assert statuses == [200, 401, 401, 401]
