"""From a challenge to tokens, with scripted answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from assay.model.client_error import AuthorizationFailed
from assay.protocol.oauth.assertion import AssertionGrant, EnterpriseGrant, IdentityProvider
from assay.protocol.oauth.authorization_code import CodeGrant, read_code, s256, with_query
from assay.protocol.oauth.authorization_server import AuthorizationServer
from assay.protocol.oauth.challenge import Challenge
from assay.protocol.oauth.client_credentials import CredentialsGrant
from assay.protocol.oauth.dpop import Proofs
from assay.protocol.oauth.effect import HttpResponse, Listen, Save, Visit
from assay.protocol.oauth.grant import Authorization
from assay.protocol.oauth.record import ISSUERS, Record, Registration, Tokens
from tests.protocol.oauth.driving import NOW, REDIRECT, Answers, Signer, environment

Json = dict[str, Any]
URL, ISSUER = "https://mcp.example/mcp", "https://as.example"
TOKEN, REGISTER = f"{ISSUER}/token", f"{ISSUER}/register"
ANSWER = {"access_token": "abc", "token_type": "bearer", "expires_in": 60}
METADATA: dict[str, Any] = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": TOKEN,
    "registration_endpoint": REGISTER,
    "code_challenge_methods_supported": ["S256"],
    "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
}
AGREED = f"{REDIRECT}?code=the-code&state={{state}}"
REGISTERED = Registration("dyn", redirect_uri=REDIRECT, dynamic=True)
REFRESHABLE = Tokens(
    "old", refresh_token="r1", scopes=("a",), resource=URL, client_id="dyn", token_endpoint=TOKEN
)


def network(
    answers: Mapping[str, Any] | None = None,
    *,
    redirect: str = AGREED,
    metadata: dict[str, Any] | None = None,
) -> Answers:
    usual = {
        f"{urlsplit(URL)._replace(path='').geturl()}/.well-known/oauth-protected-resource/mcp": {
            "resource": URL,
            "authorization_servers": [ISSUER],
        },
        f"{ISSUER}/.well-known/oauth-authorization-server": {**METADATA, **(metadata or {})},
        REGISTER: {"client_id": "dyn"},
        TOKEN: ANSWER,
    }
    return Answers({**usual, **(answers or {})}, redirect)


def authorization(grant: Any = None, **options: Any) -> Authorization:
    world = environment()
    proofs = Proofs(Signer(), world)
    return Authorization(URL, grant or CodeGrant("test"), world, lambda: proofs, **options)


def forms(answers: Answers) -> list[dict[str, str]]:
    return [dict(parse_qsl(request.body.decode())) for request in answers.requests if request.url == TOKEN]


def visit_query(answers: Answers) -> dict[str, str]:
    visit = next(effect for effect in answers.effects if isinstance(effect, Visit))
    return dict(parse_qsl(urlsplit(visit.url).query))


def record(tokens: Tokens | None = REFRESHABLE) -> Record:
    return Record().updated(ISSUER, registration=REGISTERED, tokens=tokens, requested=("a",))


def test_a_code_is_redeemed_with_the_verifier_of_its_challenge() -> None:
    answers = network()
    outcome = answers.run(authorization().authorize(Record(), Challenge(scopes=("a", "b"))))
    query, form = visit_query(answers), forms(answers)[0]
    assert query["code_challenge"] == s256(form["code_verifier"])
    assert (query["scope"], query["resource"], form["resource"]) == ("a b", URL, URL)
    assert form["code"] == "the-code"
    tokens = outcome.record.tokens
    assert tokens is not None
    assert (tokens.access_token, tokens.expires, tokens.scopes) == ("abc", NOW + 60, ("a", "b"))


def test_a_registration_is_stored_before_the_user_decides() -> None:
    answers = network(redirect=f"{REDIRECT}?error=access_denied&state={{state}}")
    with pytest.raises(AuthorizationFailed, match="access_denied"):
        answers.run(authorization().authorize(Record(), Challenge()))
    saved = [effect.record for effect in answers.effects if isinstance(effect, Save)]
    assert saved[0].at(ISSUER).registration == REGISTERED


def test_a_stored_registration_is_used_again_at_its_redirect_uri() -> None:
    answers = network()
    answers.run(authorization().authorize(record(None), Challenge()))
    assert Listen(REDIRECT) in answers.effects
    assert REGISTER not in answers.urls


@pytest.mark.parametrize(
    "stored",
    [
        Registration("dyn", redirect_uri="http://127.0.0.1:9/callback", dynamic=True),
        Registration("dyn", "s", redirect_uri=REDIRECT, dynamic=True, expires=NOW - 1),
    ],
)
def test_an_unusable_registration_is_replaced(stored: Registration) -> None:
    answers = network()
    answers.run(authorization().authorize(Record().updated(ISSUER, registration=stored), Challenge()))
    assert REGISTER in answers.urls


def test_a_registration_for_some_scopes_is_replaced_if_others_are_needed() -> None:
    answers = network({REGISTER: {"client_id": "dyn", "scope": "a"}})
    outcome = answers.run(authorization().authorize(Record(), Challenge(scopes=("a",))))
    assert answers.run(authorization().authorize(outcome.record, Challenge(scopes=("a",)))).record.at(ISSUER)
    assert answers.urls.count(REGISTER) == 1
    answers.run(authorization().authorize(outcome.record, Challenge(scopes=("b",))))
    registered = [
        msgspec.json.decode(request.body)["scope"] for request in answers.requests if request.url == REGISTER
    ]
    assert registered == ["a", "a b"]


@pytest.mark.parametrize(
    ("redirect_uri", "expected"),
    [("http://127.0.0.1:1/cb", "native"), ("app://cb", "native"), ("https://web.example/cb", "web")],
)
def test_a_registration_states_the_kind_of_application(redirect_uri: str, expected: str) -> None:
    from assay.protocol.oauth.registration import client_metadata

    metadata = client_metadata("x", redirect_uri)
    assert metadata["application_type"] == expected
    assert "refresh_token" in metadata["grant_types"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"client_id": "x", "token_endpoint_auth_method": "tls_client_auth"}, "which is unknown"),
        ({"client_id": "x", "token_endpoint_auth_method": "client_secret_basic"}, "without a secret"),
        ({"name": "x"}, "missing required field `client_id`"),
        (HttpResponse(400, {}, b'{"error":"invalid_redirect_uri"}'), "pass client_id="),
        (HttpResponse(201, {}, b"created"), "failed with status 201"),
    ],
)
def test_a_registration_that_cannot_be_used_is_an_error(answer: Any, reason: str) -> None:
    answers = network({REGISTER: answer})
    with pytest.raises(AuthorizationFailed, match=reason):
        answers.run(authorization().authorize(Record(), Challenge()))
    assert not [effect for effect in answers.effects if isinstance(effect, Visit)]


@pytest.mark.parametrize(
    ("methods", "secret", "in_header", "in_form"),
    [
        (["none"], None, False, False),
        (["client_secret_basic", "client_secret_post"], "s", True, False),
        (["client_secret_post"], "s", False, True),
        (None, "s", True, False),
    ],
)
def test_a_client_authenticates_as_the_server_supports(
    methods: list[str] | None, secret: str | None, in_header: bool, in_form: bool
) -> None:
    answers = network(metadata={"token_endpoint_auth_methods_supported": methods})
    answers.run(authorization(CodeGrant("x", "known", secret)).authorize(Record(), Challenge()))
    request = next(request for request in answers.requests if request.url == TOKEN)
    assert ("Authorization" in request.headers) is in_header
    assert ("client_secret" in forms(answers)[0]) is in_form


@pytest.mark.parametrize(
    ("challenge", "configured", "scopes_supported", "expected"),
    [
        (("c",), (), ("m",), "a c"),
        ((), (), ("m",), "a m"),
        ((), ("u",), ("m",), "a u"),
        (("c",), ("u",), ("m",), "a u c"),
        ((), (), (), "a"),
    ],
)
def test_scopes_are_those_of_the_challenge_else_of_the_metadata_with_earlier_ones(
    challenge: tuple[str, ...], configured: tuple[str, ...], scopes_supported: tuple[str, ...], expected: str
) -> None:
    place = "https://mcp.example/.well-known/oauth-protected-resource/mcp"
    document = {"resource": URL, "authorization_servers": [ISSUER], "scopes_supported": scopes_supported}
    answers = network({place: document})
    answers.run(authorization(scopes=configured).authorize(record(None), Challenge(scopes=challenge)))
    assert visit_query(answers)["scope"] == expected


@pytest.mark.parametrize(("scopes", "expected"), [(("a",), "a offline_access"), ((), None)])
def test_offline_access_is_requested_with_other_scopes_only(
    scopes: tuple[str, ...], expected: str | None
) -> None:
    answers = network(metadata={"scopes_supported": ["a", "offline_access"]})
    answers.run(authorization().authorize(Record(), Challenge(scopes=scopes)))
    assert visit_query(answers).get("scope") == expected


# Refresh.


def test_a_refresh_token_is_enough_for_a_token_with_the_same_scopes() -> None:
    answers = network({TOKEN: {**ANSWER, "refresh_token": "r2"}})
    outcome = answers.run(authorization().authorize(record(), Challenge()))
    assert outcome.refreshed
    assert forms(answers)[0]["refresh_token"] == "r1"
    assert outcome.record.tokens is not None
    assert outcome.record.tokens.refresh_token == "r2"


def test_a_refresh_token_that_is_not_replaced_is_kept() -> None:
    renewed = network().run(authorization().renew(record()))
    assert renewed is not None
    assert renewed.tokens is not None
    assert renewed.tokens.refresh_token == "r1"


@pytest.mark.parametrize(
    "challenge", [Challenge(error="insufficient_scope", scopes=("a",)), Challenge(scopes=("b",))]
)
def test_further_scopes_need_the_user(challenge: Challenge) -> None:
    answers = network()
    assert not answers.run(authorization().authorize(record(), challenge)).refreshed


def test_a_rejected_refresh_token_asks_the_user() -> None:
    answers = network({TOKEN: [HttpResponse(400, {}, b'{"error":"invalid_grant"}'), ANSWER]})
    assert not answers.run(authorization().authorize(record(), Challenge())).refreshed
    assert [form["grant_type"] for form in forms(answers)] == ["refresh_token", "authorization_code"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_refresh_token_survives_a_server_that_is_out_of_order(status: int) -> None:
    with pytest.raises(AuthorizationFailed, match="try again later"):
        network({TOKEN: status}).run(authorization().renew(record()))


def test_a_forgotten_client_registers_again() -> None:
    forgotten = HttpResponse(401, {}, b'{"error":"invalid_client"}')
    answers = network({TOKEN: [forgotten, ANSWER], REGISTER: {"client_id": "new"}})
    outcome = answers.run(authorization().authorize(record(), Challenge()))
    registration = outcome.record.at(ISSUER).registration
    assert registration is not None
    assert registration.client_id == "new"


def test_a_refresh_token_is_not_sent_to_another_authorization_server() -> None:
    elsewhere = Record().updated("https://other.example", registration=REGISTERED, tokens=REFRESHABLE)
    answers = network()
    outcome = answers.run(authorization().authorize(elsewhere, Challenge()))
    assert all(b"r1" not in request.body for request in answers.requests)
    assert REGISTER in answers.urls
    assert outcome.record.at("https://other.example").tokens == REFRESHABLE


def test_a_refresh_token_for_another_resource_is_not_used() -> None:
    other = msgspec.structs.replace(REFRESHABLE, resource="https://mcp.example/other")
    assert not network().run(authorization().authorize(record(other), Challenge())).refreshed


def test_credentials_of_a_bounded_number_of_issuers_are_kept() -> None:
    many = Record()
    for number in range(50):
        many = many.updated(f"https://{number}.example", tokens=REFRESHABLE)
    assert len(many.by_issuer) == ISSUERS
    assert many.issuer == "https://49.example"


def test_configured_credentials_stay_with_their_first_authorization_server() -> None:
    moved = Record().updated("https://first.example", registration=Registration("known"))
    with pytest.raises(AuthorizationFailed, match="the credentials are those of https://first"):
        network().run(authorization(CodeGrant("x", "known")).authorize(moved, Challenge()))


# Authorization responses.


@pytest.mark.parametrize(
    ("promised", "query", "reason"),
    [
        (True, "code=x&state=s", "no `iss`"),
        (True, "code=x&state=s&iss=https://evil.example", "another issuer"),
        (False, "code=x&state=s&iss=https://evil.example", "another issuer"),
        (True, f"code=x&state=s&iss={ISSUER}/", "another issuer"),
        (True, f"error=secret_hint&state=s&iss={ISSUER}/", "another issuer"),
        (False, "code=x&state=t", "`state` differs"),
        (False, "code=x", "`state` differs"),
        (False, "state=s", "neither a code nor an error"),
        (False, "state=s&code=", "neither a code nor an error"),
        (False, "state=s&state=s&code=x", "twice"),
        (False, "error=access_denied&error_description=no&state=s", r"access_denied \(no\)"),
    ],
)
def test_a_response_is_rejected(promised: bool, query: str, reason: str) -> None:
    server = AuthorizationServer(ISSUER, authorization_response_iss_parameter_supported=promised)
    with pytest.raises(AuthorizationFailed, match=reason) as failure:
        read_code(f"{REDIRECT}?{query}", REDIRECT, "s", server)
    assert "secret_hint" not in str(failure.value)


@pytest.mark.parametrize("promised", [False, True])
def test_a_response_of_the_right_issuer_is_accepted(promised: bool) -> None:
    server = AuthorizationServer(ISSUER, authorization_response_iss_parameter_supported=promised)
    assert read_code(f"{REDIRECT}?code=x&state=s&iss={ISSUER}", REDIRECT, "s", server) == "x"


def test_the_query_of_an_endpoint_stays() -> None:
    assert with_query("https://a.example/x?y=1#z", {"b": "c d"}) == "https://a.example/x?y=1&b=c+d"


# Other grants, and proofs.


def test_a_private_key_authenticates_with_a_short_assertion() -> None:
    answers = network()
    grant = CredentialsGrant("robot")
    answers.run(authorization(grant, signer=Signer()).authorize(Record(), Challenge()))
    _, claims = msgspec.json.decode(forms(answers)[0]["client_assertion"])
    assert (claims["iss"], claims["sub"], claims["aud"]) == ("robot", "robot", ISSUER)
    assert 0 < claims["exp"] - NOW <= 300


def test_a_failed_assertion_is_not_sent_again() -> None:
    answers = network({TOKEN: HttpResponse(400, {}, b'{"error":"invalid_grant"}')})
    with pytest.raises(AuthorizationFailed, match="invalid_grant"):
        answers.run(authorization(AssertionGrant("pod")).authorize(Record(), Challenge()))
    assert [form["assertion"] for form in forms(answers)] == ["supplied assertion"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"access_token": "x", "issued_token_type": "urn:other"}, "something else than an ID-JAG"),
        ({"access_token": 7}, "the exchange of the ID token"),
        (HttpResponse(403, {}, b'{"error":"access_denied"}'), "access_denied"),
    ],
)
def test_an_identity_provider_that_refuses_ends_the_authorization(answer: Any, reason: str) -> None:
    provider = IdentityProvider("app", token_endpoint="https://idp.example/token")
    answers = network({"https://idp.example/token": answer})
    grant = EnterpriseGrant("app", "s", provider)
    with pytest.raises(AuthorizationFailed, match=reason):
        answers.run(authorization(grant).authorize(Record(), Challenge()))
    assert not forms(answers)


def proofs_in(answers: Answers) -> list[Any]:
    headers = [request.headers.get("DPoP") for request in answers.requests]
    return [msgspec.json.decode(proof)[1] for proof in headers if proof is not None]


def test_a_nonce_is_used_when_the_server_demands_it() -> None:
    demand = HttpResponse(400, {"dpop-nonce": "n1"}, b'{"error":"use_dpop_nonce"}')
    answers = network({TOKEN: [demand, {**ANSWER, "token_type": "DPoP"}]})
    answers.run(authorization(CredentialsGrant("x", "s"), dpop=True).authorize(Record(), Challenge()))
    first, second = proofs_in(answers)
    assert ("nonce" in first, second["nonce"]) == (False, "n1")
    assert first["jti"] != second["jti"]
    assert (second["htm"], second["htu"]) == ("POST", TOKEN)


def test_a_nonce_is_demanded_once_only() -> None:
    demands = [HttpResponse(400, {"dpop-nonce": f"n{n}"}, b'{"error":"use_dpop_nonce"}') for n in range(9)]
    answers = network({TOKEN: demands})
    with pytest.raises(AuthorizationFailed, match="use_dpop_nonce"):
        answers.run(authorization(CredentialsGrant("x", "s"), dpop=True).authorize(Record(), Challenge()))
    assert len(proofs_in(answers)) == 2


@pytest.mark.parametrize(
    ("dpop", "challenge", "expected"),
    [(None, "bearer", 0), (None, "dpop", 1), (True, "bearer", 1), (False, "dpop", 0)],
)
def test_proofs_are_sent_if_the_server_or_the_user_demands_it(
    dpop: bool | None, challenge: str, expected: int
) -> None:
    kind = "DPoP" if dpop else "Bearer"
    answers = network({TOKEN: {**ANSWER, "token_type": kind}})
    flow = authorization(CredentialsGrant("x", "s"), dpop=dpop).authorize(Record(), Challenge(challenge))
    answers.run(flow)
    assert len(proofs_in(answers)) == expected


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [({"dpop_signing_alg_values_supported": ["RS256"]}, "signs with ES256"), ({}, "not bound to a key")],
)
def test_a_token_that_cannot_be_bound_is_an_error(metadata: dict[str, Any], reason: str) -> None:
    with pytest.raises(AuthorizationFailed, match=reason):
        flow = authorization(CredentialsGrant("x", "s"), dpop=True).authorize(Record(), Challenge())
        network(metadata=metadata).run(flow)


def test_proofs_name_the_token_and_the_url_without_query() -> None:
    proofs = Proofs(Signer(), environment())
    header, claims = msgspec.json.decode(proofs.make("GET", "wss://a.example/ws?x=1", "token"))
    assert header == {"typ": "dpop+jwt", "jwk": {"kty": "EC"}}
    assert claims["htu"] == "https://a.example/ws"
    assert claims["ath"] == s256("token")


def test_nonces_of_a_bounded_number_of_servers_are_kept() -> None:
    proofs = Proofs(Signer(), environment())
    for number in range(100):
        assert proofs.learn(f"https://{number}.example/", {"dpop-nonce": "n"})
    assert not proofs.learn("https://99.example/other", {"dpop-nonce": "n"})
    assert not proofs.learn("https://a.example/", {"dpop-nonce": "n" * 2000})
    _, claims = msgspec.json.decode(proofs.make("GET", "https://0.example/"))
    assert "nonce" not in claims
