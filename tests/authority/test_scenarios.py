"""What scenarios for clients need: each is a row of settings, and a healthy client gets through it."""

import base64
from typing import Any

import httpx2
import jwt
import pytest

from assay.authority.afterwards import access_of
from assay.authority.authority import Authority
from assay.authority.keys import new_key, public_jwk, thumbprint
from assay.authority.record import JWT_BEARER, TOKEN_EXCHANGE, Client, digest
from assay.authority.settings import Lifetimes, Settings, Trusted
from tests.authority.walk import ISSUER, RESOURCE, VERIFIER, Walk, answered, error_of, present, proof

OAUTH = "/.well-known/oauth-authorization-server"
OIDC = "/.well-known/openid-configuration"
CIMD = "https://conformance-test.local/client-metadata.json"
CALLBACK = "http://localhost:3000/callback"
ANY = "no-redirect-check"
ONLY_OAUTH = ("metadata-404-oidc", ANY)
METADATA: dict[str, Any] = {
    "scopes_supported": None,
    "dpop_signing_alg_values_supported": None,
    "grant_types_supported": ["authorization_code", "refresh_token"],
}
BASE: dict[str, Any] = {
    "audience": RESOURCE,
    "documents": False,
    "methods": ("none",),
    "grants": ("authorization_code",),
    "metadata": METADATA,
    "clients": (),
    "faults": ONLY_OAUTH,
}
DOCUMENT = {"client_id": CIMD, "client_name": "Described", "redirect_uris": ["http://127.0.0.1/callback"]}
DESCRIBED: dict[str, Any] = {"documents": True, "published": {CIMD: DOCUMENT}}
KNOWN = Client(id="known", secret=digest("s3cret"), methods=("client_secret_basic",))
TENANT = f"{ISSUER}/tenant1"


def scopes(*names: str) -> dict[str, Any]:
    return {"metadata": {**METADATA, "scopes_supported": [*names]}}


def faults(*names: str) -> dict[str, Any]:
    return {"faults": (*names, *ONLY_OAUTH)}


# Each with its own settings, and where its metadata is.
BY_CODE: dict[str, tuple[dict[str, Any], str | None]] = {
    "metadata-default": ({}, OAUTH),
    "metadata-var1": ({"faults": ("metadata-404-oauth", ANY)}, OIDC),
    "metadata-var2": ({"issuer": TENANT}, f"{OAUTH}/tenant1"),
    "metadata-var3": ({"issuer": TENANT, "faults": ("metadata-only-appended", ANY)}, f"/tenant1{OIDC}"),
    "basic-cimd": (DESCRIBED, OAUTH),
    "token-endpoint-auth-basic": ({"methods": ("client_secret_basic",)}, OAUTH),
    "token-endpoint-auth-post": ({"methods": ("client_secret_post",)}, OAUTH),
    "pre-registration": (
        {"registration": False, "methods": ("client_secret_basic",), "clients": (KNOWN,)},
        OAUTH,
    ),
    "oauth-metadata-backcompat": ({"endpoints": "/oauth"}, OAUTH),
    # Who knows no issuer has nothing to compare `iss` with.
    "oauth-endpoint-fallback": (
        {"faults": ("metadata-404-oauth", "metadata-404-oidc", "missing-iss", ANY)},
        None,
    ),
    "offline-access-scope": ({**DESCRIBED, **scopes("mcp:basic", "offline_access")}, OAUTH),
    "offline-access-not-supported": (scopes("mcp:basic", "mcp:read"), OAUTH),
    "iss-not-advertised": (faults("metadata-without-iss", "missing-iss"), OAUTH),
}


def walk(**settings: Any) -> Walk:
    return Walk(**{**BASE, **settings})


async def documents(given: Walk) -> dict[str, dict[str, Any]]:
    """What there is, by where it is."""
    path = given.authority.settings.path
    found = {
        place: await given.http.get(place) for place in {f"{OAUTH}{path}", f"{OIDC}{path}", f"{path}{OIDC}"}
    }
    return {place: response.json() for place, response in found.items() if response.status_code == 200}


async def identity(given: Walk, document: dict[str, Any]) -> dict[str, Any]:
    """Who a client is from now on, in the order that clients prefer."""
    if given.authority.preregistered:
        return {
            "client_id": "known",
            "client_secret": "s3cret",
            "token_endpoint_auth_method": "client_secret_basic",
        }
    if document.get("client_id_metadata_document_supported"):
        return {"client_id": CIMD, "token_endpoint_auth_method": "none"}
    said = {"redirect_uris": [CALLBACK], "grant_types": ["authorization_code", "refresh_token"]}
    response = await given.http.post(document["registration_endpoint"], json=said)
    assert response.status_code == 201, response.text
    told: dict[str, Any] = response.json()
    return told


async def by_code(
    given: Walk, document: dict[str, Any], who: dict[str, Any], **headers: str
) -> httpx2.Response:
    asked = given.wish(client_id=who["client_id"], redirect_uri=CALLBACK, scope=None)
    back = answered(await given.http.get(document["authorization_endpoint"], params=asked))
    form = {"grant_type": "authorization_code", "code": back["code"], "code_verifier": VERIFIER}
    form |= {"redirect_uri": CALLBACK, "resource": RESOURCE}
    method, secret = who["token_endpoint_auth_method"], who.get("client_secret")
    if method == "client_secret_basic":
        headers |= basic(who["client_id"], secret)
    else:
        form |= present({"client_id": who["client_id"], "client_secret": secret})
    return await given.http.post(document["token_endpoint"], data=form, headers=headers)


def basic(name: str, secret: str | None) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(f'{name}:{secret}'.encode()).decode()}"}


@pytest.mark.parametrize("name", BY_CODE)
async def test_a_healthy_client_finds_the_metadata_at_one_place_and_gets_a_token(name: str) -> None:
    settings, place = BY_CODE[name]
    given = walk(**settings)
    found = await documents(given)
    assert [*found] == ([] if place is None else [place])
    root = {
        f"{what}_endpoint": f"{ISSUER}/{at}"
        for what, at in (("authorization", "authorize"), ("token", "token"), ("registration", "register"))
    }
    document = root if place is None else found[place]
    response = await by_code(given, document, await identity(given, document))
    assert response.status_code == 200, response.text
    assert response.json().keys() == {"access_token", "token_type", "expires_in"}
    claims = access_of(given.authority, response.json()["access_token"])
    assert claims is not None
    assert (claims["aud"], claims["scope"]) == (RESOURCE, "")


@pytest.mark.parametrize(
    ("settings", "name", "said"),
    [
        ({}, "scopes_supported", None),
        (scopes("mcp:basic"), "scopes_supported", ["mcp:basic"]),
        ({}, "token_endpoint_auth_methods_supported", ["none"]),
        (
            {"methods": ("client_secret_post",)},
            "token_endpoint_auth_methods_supported",
            ["client_secret_post"],
        ),
        ({"metadata": {}, "grants": (JWT_BEARER,)}, "grant_types_supported", [JWT_BEARER]),
        ({}, "registration_endpoint", f"{ISSUER}/register"),
        ({"registration": False}, "registration_endpoint", None),
        ({"endpoints": "/oauth"}, "token_endpoint", f"{ISSUER}/oauth/token"),
        ({"endpoints": "/oauth"}, "issuer", ISSUER),
        ({"issuer": TENANT, "endpoints": "/oauth"}, "token_endpoint", f"{TENANT}/oauth/token"),
        (faults("metadata-without-iss"), "authorization_response_iss_parameter_supported", None),
        ({}, "client_id_metadata_document_supported", False),
        ({}, "dpop_signing_alg_values_supported", None),
    ],
)
async def test_the_metadata_says_what_was_set(settings: dict[str, Any], name: str, said: Any) -> None:
    (document,) = (await documents(walk(**settings))).values()
    assert document.get(name) == said


@pytest.mark.parametrize(
    ("names", "iss"),
    [
        ((), ISSUER),
        (("missing-iss",), None),
        (("wrong-iss",), "https://attacker.example"),
        (("metadata-without-iss", "wrong-iss"), "https://attacker.example"),
        (("iss-with-slash",), f"{ISSUER}/"),
    ],
)
async def test_the_answer_names_its_issuer_or_not(names: tuple[str, ...], iss: str | None) -> None:
    given = walk(**faults(*names), **DESCRIBED)
    assert answered(await given.authorize(client_id=CIMD, redirect_uri=CALLBACK)).get("iss") == iss


async def test_endpoints_of_a_document_with_another_issuer_have_a_place_of_their_own() -> None:
    given = walk(**faults("issuer-mismatch"), endpoints="/mismatched-as")
    (document,) = (await documents(given)).values()
    assert document["issuer"] == "https://attacker.example"
    assert document["token_endpoint"] == f"{ISSUER}/mismatched-as/token"
    assert (await given.http.post("/token")).status_code == 404


async def test_a_client_of_one_authority_is_nobody_at_another() -> None:
    first, second = walk(), walk(issuer="http://127.0.0.1:9001")
    (document,) = (await documents(first)).values()
    who = await identity(first, document)
    response = await second.authorize(client_id=who["client_id"], redirect_uri=CALLBACK)
    assert response.status_code == 400
    assert "unknown client" in response.text


async def test_a_client_signs_with_the_key_that_it_was_given() -> None:
    key = new_key("ES256")
    robot = Client(
        id="robot",
        methods=("private_key_jwt",),
        grants=("client_credentials",),
        jwks={"keys": [public_jwk("ES256", key.private)]},
    )
    given = walk(
        grants=("client_credentials",),
        methods=("private_key_jwt",),
        registration=False,
        lifetimes=Lifetimes(assertion=86_400.0),
        clients=(robot,),
    )
    claims = {"iss": "robot", "sub": "robot", "aud": f"{ISSUER}/", "exp": int(given.clock()) + 3600}
    signed = jwt.encode(claims, key.private, "ES256", headers={"kid": "made-up"})
    kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    response = await given.token(
        grant_type="client_credentials",
        client_assertion_type=kind,
        client_assertion=signed,
        resource=RESOURCE,
    )
    assert given.claims(response.json()["access_token"])["sub"] == "robot"


async def test_a_client_acts_for_itself_with_its_secret_and_nobody_registers() -> None:
    robot = Client(id="known", secret=digest("s3cret"), methods=KNOWN.methods, grants=("client_credentials",))
    given = walk(grants=robot.grants, methods=robot.methods, registration=False, clients=(robot,))
    response = await given.token(grant_type="client_credentials", headers=basic("known", "s3cret"))
    assert given.claims(response.json()["access_token"])["sub"] == "known"
    by_post = await given.token(grant_type="client_credentials", client_id="known", client_secret="s3cret")
    assert error_of(by_post) == "401 invalid_client"
    assert error_of(await given.http.post("/register", json={})) == "403 access_denied"


async def test_an_identity_provider_vouches_for_a_person_at_another_authority() -> None:
    at_provider = Client(id="at-idp", grants=(TOKEN_EXCHANGE,), id_elsewhere="known")
    provider = walk(
        issuer="http://127.0.0.1:9001", grants=(TOKEN_EXCHANGE,), registration=False, clients=(at_provider,)
    )
    voucher = Trusted(
        issuer=provider.authority.issuer, jwks=provider.authority.jwks(), type="oauth-id-jag+jwt"
    )
    client = Client(id="known", secret=digest("s3cret"), methods=KNOWN.methods, grants=(JWT_BEARER,))
    given = walk(
        grants=(JWT_BEARER,),
        methods=KNOWN.methods,
        resources=(RESOURCE,),
        trusted=(voucher,),
        clients=(client,),
    )
    exchanged = await provider.token(
        grant_type=TOKEN_EXCHANGE,
        requested_token_type="urn:ietf:params:oauth:token-type:id-jag",
        subject_token=provider.authority.identify("ann", "at-idp"),
        subject_token_type="urn:ietf:params:oauth:token-type:id_token",
        audience=ISSUER,
        resource=RESOURCE,
        client_id="at-idp",
    )
    jag = exchanged.json()["access_token"]
    response = await given.token(grant_type=JWT_BEARER, assertion=jag, headers=basic("known", "s3cret"))
    claims = given.claims(response.json()["access_token"])
    assert (claims["sub"], claims["client_id"], claims["aud"]) == ("ann", "known", RESOURCE)


WORKLOAD = Authority(Settings(issuer="https://idp.conformance-test.local"), now=lambda: 1_800_000_000.0)


def workload_token(**changes: Any) -> str:
    plain = {"header": {"typ": "JWT"}, "claims": {"client_id": None, "scope": None}}
    return WORKLOAD.mint("workload", **{"audience": ISSUER, **plain, **changes})


@pytest.mark.parametrize(
    ("form", "outcome"),
    [
        ({"assertion": workload_token()}, "200"),
        ({"assertion": workload_token(audience=f"{ISSUER}/")}, "200"),
        ({"assertion": workload_token(), "client_id": None}, "200"),
        ({"assertion": None}, "400 invalid_request"),
        ({"assertion": workload_token(fault="expired-token")}, "400 invalid_grant"),
        ({"assertion": workload_token(audience="https://wrong.example")}, "400 invalid_grant"),
        ({"assertion": "malformed"}, "400 invalid_grant"),
        ({"assertion": workload_token(), "scope": "wif.rejected"}, "400 invalid_scope"),
        ({"assertion": workload_token(), "scope": "wif.trigger-unauthorized"}, "400 unauthorized_client"),
        ({"grant_type": "client_credentials"}, "400 unsupported_grant_type"),
    ],
)
async def test_a_workload_has_a_token_of_its_own(form: dict[str, Any], outcome: str) -> None:
    given = walk(
        grants=(JWT_BEARER,),
        registration=False,
        clients=(Client(id="workload-client", grants=(JWT_BEARER,)),),
        trusted=(Trusted(issuer=WORKLOAD.issuer, jwks=WORKLOAD.jwks(), client_id="workload-client"),),
        refused_scopes={"wif.trigger-unauthorized": "unauthorized_client", "wif.rejected": "invalid_scope"},
    )
    response = await given.token(**{"grant_type": JWT_BEARER, "client_id": "workload-client", **form})
    if outcome != "200":
        assert error_of(response) == outcome
        return
    claims = given.claims(response.json()["access_token"])
    assert (claims["sub"], claims["client_id"]) == ("workload", "workload-client")


async def test_tokens_are_bound_to_a_key_and_the_proof_has_a_nonce() -> None:
    offered = {**METADATA, "dpop_signing_alg_values_supported": ["ES256"]}
    given = walk(dpop_nonce=True, lifetimes=Lifetimes(proof=300.0), metadata=offered)
    (document,) = (await documents(given)).values()
    assert document["dpop_signing_alg_values_supported"] == ["ES256"]
    who, key, early = await identity(given, document), new_key("ES256"), int(given.clock()) - 200
    refused = await by_code(given, document, who, dpop=proof(key, iat=early))
    assert error_of(refused) == "400 use_dpop_nonce"
    nonce = refused.headers["dpop-nonce"]
    response = await by_code(given, document, who, dpop=proof(key, iat=early, nonce=nonce, jti="2"))
    assert response.json()["token_type"] == "DPoP"
    claims = access_of(given.authority, response.json()["access_token"])
    assert claims is not None
    assert claims["cnf"] == {"jkt": thumbprint(key.jwk())}
