"""Bad tokens and headers are refused over HTTP and WebSocket, and the next good request is served."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.auth.endpoint import HTTP, TARGETS, WS, bearer, dpop, protected
from tests.auth.issuer import (
    RESOURCE,
    Issuer,
    ec_key,
    ed_key,
    encoded,
    private_jwk,
    proof,
    public_jwk,
    rsa_key,
    serve_issuer,
    signed,
    thumbprint,
)

Headers = list[tuple[str, str]]
NONE, BAD, REQUEST, SCOPE, PROOF = (
    (401, None),
    (401, "invalid_token"),
    (400, "invalid_request"),
    (403, "insufficient_scope"),
    (401, "invalid_dpop_proof"),
)


class Case(NamedTuple):
    expected: tuple[int, str | None]
    make: Callable[[Issuer], Headers]
    query: str = ""


def token(expected: tuple[int, str | None] = BAD, **options: Any) -> Case:
    """A token that is valid except for these options."""
    return Case(expected, lambda issuer: bearer(issuer.mint(**options)))


def raw_header(text: str, expected: tuple[int, str | None]) -> Case:
    return Case(expected, lambda issuer: [("Authorization", text)])


def confused(issuer: Issuer) -> Headers:
    """Signed with HMAC, and the public key as the secret: algorithm confusion (RFC 8725, 2.1)."""
    pem = rsa_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    start = f"{encoded({'alg': 'HS256', 'kid': 'rsa', 'typ': 'at+jwt'})}.{encoded(issuer.claims())}"
    return bearer(f"{start}.{encoded(hmac.digest(pem, start.encode(), hashlib.sha256))}")


def unsigned(issuer: Issuer, algorithm: str = "none", ending: str = "") -> Headers:
    start = f"{encoded({'alg': algorithm, 'kid': 'ec', 'typ': 'at+jwt'})}.{encoded(issuer.claims())}"
    return bearer(f"{start}.{ending}")


def altered(issuer: Issuer) -> Headers:
    header, _, signature = issuer.mint().split(".")
    return bearer(f"{header}.{encoded(issuer.claims(sub='root'))}.{signature}")


def rewritten(change: Callable[[str], str]) -> Case:
    return Case(BAD, lambda issuer: bearer(change(issuer.mint())))


def other_ending(text: str) -> str:
    """The last letter of 64 bytes in base64url has four unused bits."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + letters[letters.index(text[-1]) + 1]


def with_own_key(issuer: Issuer) -> Headers:
    """The token brings the key that is to verify it."""
    stranger = ec_key("stranger")
    header = {"jwk": public_jwk(stranger), "jku": f"{issuer.url}/jwks", "kid": ...}
    return bearer(issuer.mint(key=stranger, header=header))


def with_payload(payload: Any) -> Case:
    header = {"alg": "ES256", "kid": "ec", "typ": "at+jwt"}
    return Case(BAD, lambda issuer: bearer(signed(header, payload, ec_key())))


IN = 3600
NOW = int(time.time())

TOKENS: dict[str, Case] = {
    "no token": Case(NONE, lambda issuer: []),
    "another scheme": raw_header("Basic YW5uOnNlY3JldA==", NONE),
    "an unknown scheme": raw_header("Negotiate abc", NONE),
    "a scheme alone": raw_header("Bearer", REQUEST),
    "an empty token": raw_header("Bearer    ", REQUEST),
    "two words": raw_header("Bearer abc def", REQUEST),
    "characters that no token has": raw_header("Bearer a,b=c;d", REQUEST),
    "letters beyond ASCII": raw_header("Bearer \xe4\xf6\xfc", REQUEST),
    "two headers": Case(REQUEST, lambda issuer: bearer(issuer.mint()) * 2),
    "two headers, one of them bad": Case(REQUEST, lambda issuer: [*bearer("abc"), *bearer(issuer.mint())]),
    "token in the query": Case(BAD, lambda issuer: [], "?access_token=abc"),
    "token in the query, disguised": Case(BAD, lambda issuer: [], "?a=1&acc%65ss_token=abc"),
    "token in query and header": Case(REQUEST, lambda issuer: bearer(issuer.mint()), "?access_token=abc"),
    "oversized": Case(BAD, lambda issuer: bearer("a" * 20_000)),
    "oversized, but signed": token(padding="a" * 20_000),
    "opaque": Case(BAD, lambda issuer: bearer("2YotnFZFEjr1zCsicMWpAA")),
    "five parts": Case(BAD, lambda issuer: bearer("a.b.c.d.e")),
    "dots only": Case(BAD, lambda issuer: bearer("..")),
    "header that is not base64": rewritten(lambda text: f"a{text}"),
    "header that is not JSON": rewritten(lambda text: f"{encoded(b'{')}.{text.split('.', 1)[1]}"),
    "header that is a list": rewritten(lambda text: f"{encoded([])}.{text.split('.', 1)[1]}"),
    "header without an end": rewritten(lambda text: f"{encoded(b'[' * 9000)}.{text.split('.', 1)[1]}"),
    "algorithm none": Case(BAD, unsigned),
    "algorithm None": Case(BAD, lambda issuer: unsigned(issuer, "None", "AAAA")),
    "algorithm none with a signature": Case(BAD, lambda issuer: unsigned(issuer, "none", "AAAA")),
    "algorithm missing": rewritten(lambda text: f"{encoded({'kid': 'ec'})}.{text.split('.', 1)[1]}"),
    "algorithm that is a number": rewritten(lambda text: f"{encoded({'alg': 7})}.{text.split('.', 1)[1]}"),
    "key confusion": Case(BAD, confused),
    "another algorithm than the key's": token(key=rsa_key(), header={"alg": "RS256"}),
    "RSA key by the name of another": token(key=ec_key(), header={"kid": "rsa"}),
    "stranger's key by a known name": token(key=ec_key("stranger")),
    "stranger's key without a name": token(key=ec_key("stranger"), header={"kid": ...}),
    "unknown key": token(key=ec_key("stranger"), header={"kid": "unknown"}),
    "unknown algorithm of a known kind": token(key=ed_key(), header={"alg": "EdDSA", "kid": ...}),
    "key in the token": Case(BAD, with_own_key),
    "key name that is a number": token(header={"kid": 7}),
    "critical extension": token(header={"crit": ["b64"], "b64": True}),
    "altered claims": Case(BAD, altered),
    "signature cut off": rewritten(lambda text: text[:-8]),
    "signature written in another way": rewritten(other_ending),
    "signature gone": rewritten(lambda text: text.rpartition(".")[0] + "."),
    "signature of zeros": rewritten(lambda text: f"{text.rpartition('.')[0]}.{encoded(bytes(64))}"),
    "another type": token(header={"typ": "logout+jwt"}),
    "a proof as a token": token(header={"typ": "dpop+jwt"}),
    "claims that are a list": with_payload([]),
    "claims that are not JSON": with_payload(b"\xff"),
    "claims without an end": with_payload(b"[" * 9000),
    "claims that are empty": with_payload({}),
    "expired": token(exp=NOW - IN),
    "without an end": token(exp=...),
    "end that is a text": token(exp=str(NOW + IN)),
    "end that is true": token(exp=True),
    "end beyond all numbers": token(exp=10**400),
    "end that is infinite": with_payload(b'{"iss":"x","exp":1e999}'),
    "not yet": token(nbf=NOW + IN),
    "issued in the future": token(iat=NOW + IN),
    "another audience": token(aud="http://localhost:3000/other"),
    "audience of another host": token(aud="http://localhost:3001/mcp"),
    "audience as a prefix": token(aud=f"{RESOURCE}/more"),
    "audience that differs in case": token(aud="http://localhost:3000/MCP"),
    "audiences of others": token(aud=["http://localhost:3000/", "client"]),
    "no audience": token(aud=...),
    "empty audiences": token(aud=[]),
    "audience that is an object": token(aud={RESOURCE: True}),
    "another issuer": token(iss="http://127.0.0.1:1"),
    "issuer with a slash more": Case(BAD, lambda issuer: bearer(issuer.mint(iss=f"{issuer.url}/"))),
    "no issuer": token(iss=...),
    "nobody's": token(sub=...),
    "whose name is empty": token(sub=""),
    "whose name is a number": token(sub=7),
    "missing scope": token(SCOPE, scope="other"),
    "no scope": token(SCOPE, scope=...),
    "scope as a part of a word": token(SCOPE, scope="useful misuse"),
    "scope that is a number": token(scope=7),
    "bound to a certificate": token(cnf={"x5t#S256": encoded(bytes(32))}),
    "bound to a certificate without a name": token(cnf={"x5t#S256": ""}),
    "bound in an unknown way": token(cnf={"kid": "x"}),
    "bound to nothing": token(cnf={}),
}


def bound(issuer: Issuer, **changed: Any) -> str:
    return issuer.mint(cnf={"jkt": thumbprint(ec_key("holder"))}, **changed)


Prove = Callable[[str, dict[str, Any]], list[str]]


class Bound(NamedTuple):
    """A token that is bound to a key, and the proofs sent with it; the second argument is their target."""

    expected: tuple[int, str | None]
    prove: Prove
    scheme: str = "DPoP"


def bad_proof(**changed: Any) -> Bound:
    """A proof that is valid except for these changes."""
    return Bound(PROOF, lambda text, target: [proof(text, **{**target, **changed})])


PROOFS: dict[str, Bound] = {
    "bound token as Bearer": Bound(BAD, lambda text, target: [], "Bearer"),
    "bound token as Bearer, with a proof": Bound(BAD, lambda text, target: [proof(text, **target)], "Bearer"),
    "no proof": Bound(PROOF, lambda text, target: []),
    "two proofs": Bound(PROOF, lambda text, target: [proof(text, **target), proof(text, **target)]),
    "proof that is too long": bad_proof(padding="a" * 20_000),
    "no JWT": Bound(PROOF, lambda text, target: ["abc"]),
    "proof by another key": bad_proof(key=ec_key("stranger")),
    "key of another than the signer": bad_proof(
        key=ec_key("stranger"), header={"jwk": public_jwk(ec_key("holder"))}
    ),
    "private key in the proof": bad_proof(header={"jwk": private_jwk(ec_key("holder"))}),
    "no key in the proof": bad_proof(header={"jwk": ...}),
    "key that is a text": bad_proof(header={"jwk": "x"}),
    "another type of proof": bad_proof(header={"typ": "JWT"}),
    "proof without a type": bad_proof(header={"typ": ...}),
    "wrong method": bad_proof(htm="PUT"),
    "method in small letters": bad_proof(htm="post"),
    "no method": bad_proof(htm=...),
    "wrong address": bad_proof(htu="http://localhost:3000/other"),
    "wrong host": bad_proof(htu="http://evil.example/mcp"),
    "wrong scheme": bad_proof(htu="https://localhost:3000/mcp"),
    "address that is a number": bad_proof(htu=7),
    "no address": bad_proof(htu=...),
    "for another token": bad_proof(ath=encoded(bytes(32))),
    "for no token": bad_proof(ath=...),
    "made long ago": bad_proof(iat=NOW - IN),
    "made in the future": bad_proof(iat=NOW + IN),
    "made beyond all numbers": bad_proof(iat=10**400),
    "half a letter": bad_proof(jti="\ud800"),
    "made at no time": bad_proof(iat=...),
    "made at a text": bad_proof(iat="now"),
    "without a name": bad_proof(jti=...),
    "with an empty name": bad_proof(jti=""),
}


def check_refusal(reply: Any, expected: tuple[int, str | None], scheme: str) -> None:
    status, error = expected
    challenge = reply.headers["www-authenticate"]
    assert (reply.status, challenge.split()[0]) == (status, scheme)
    assert 'resource_metadata="http://localhost:3000/.well-known/oauth-protected-resource/mcp"' in challenge
    assert 'scope="use"' in challenge
    assert (f'error="{error}"' in challenge) if error else ("error" not in challenge)
    assert json.loads(reply.body)["error"]["message"]


@pytest.mark.parametrize("transport", [HTTP, WS])
@pytest.mark.parametrize("name", TOKENS)
async def test_it_is_refused_and_the_next_is_served(name: str, transport: str) -> None:
    case = TOKENS[name]
    async with serve_issuer() as issuer, protected(issuer) as endpoint:
        headers = case.make(issuer)
        reply = await endpoint.request(transport, headers, case.query)
        check_refusal(reply, case.expected, "Bearer")
        assert endpoint.greeted == []
        assert not any(secret in reply.body.decode() for _, line in headers for secret in line.split()[1:])
        good = await endpoint.request(transport, bearer(issuer.mint()))
        assert good.status == {HTTP: 200, WS: 101}[transport]
        assert endpoint.greeted == ([f"{issuer.url}#sub=ann"] if transport == HTTP else [])


@pytest.mark.parametrize("transport", [HTTP, WS])
@pytest.mark.parametrize("name", PROOFS)
async def test_the_proof_is_refused_and_the_next_is_served(name: str, transport: str) -> None:
    case = PROOFS[name]
    method, address = TARGETS[transport]
    target = {"htm": method, "htu": address}
    async with serve_issuer() as issuer, protected(issuer) as endpoint:
        text = bound(issuer)
        headers = [("Authorization", f"{case.scheme} {text}")]
        headers += [("DPoP", text_) for text_ in case.prove(text, target)]
        check_refusal(await endpoint.request(transport, headers), case.expected, case.scheme)
        assert endpoint.greeted == []
        good = await endpoint.request(transport, dpop(text, proof(text, **target)))
        assert good.status == {HTTP: 200, WS: 101}[transport]


@pytest.mark.parametrize("transport", [HTTP, WS])
async def test_a_proof_is_accepted_once(transport: str) -> None:
    method, address = TARGETS[transport]
    async with serve_issuer() as issuer, protected(issuer) as endpoint:
        text = bound(issuer)
        once = dpop(text, proof(text, htm=method, htu=address))
        assert (await endpoint.request(transport, once)).status == {HTTP: 200, WS: 101}[transport]
        check_refusal(await endpoint.request(transport, once), PROOF, "DPoP")
        assert len(endpoint.greeted) == (transport == HTTP)


@pytest.mark.parametrize("transport", [HTTP, WS])
async def test_an_unbound_token_is_refused_as_dpop(transport: str) -> None:
    async with serve_issuer() as issuer, protected(issuer) as endpoint:
        text = issuer.mint()
        check_refusal(await endpoint.request(transport, dpop(text, proof(text))), BAD, "DPoP")
        assert endpoint.greeted == []


def test_there_are_at_least_fifty_cases() -> None:
    assert len(TOKENS) + len(PROOFS) >= 50
