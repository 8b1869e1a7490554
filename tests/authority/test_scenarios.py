"""The settings that scenarios for clients need; a healthy client completes each flow."""

import base64
from typing import Any

import httpx2
import jwt
import pytest

from assay.authority.authority import Authority
from assay.authority.issued_token import access_of
from assay.authority.keys import new_key, public_jwk, thumbprint
from assay.authority.record import JWT_BEARER, TOKEN_EXCHANGE, Client, digest
from assay.authority.settings import Lifetimes, Settings, Trusted
from tests.authority.flow import ISSUER, RESOURCE, VERIFIER, OAuthFlow, answered, error_of, present, proof

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


# Each with its settings and the path of its metadata.
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
    # A client that knows no issuer cannot compare `iss`.
    "oauth-endpoint-fallback": (
        {"faults": ("metadata-404-oauth", "metadata-404-oidc", "missing-iss", ANY)},
        None,
    ),
    "offline-access-scope": ({**DESCRIBED, **scopes("mcp:basic", "offline_access")}, OAUTH),
    "offline-access-not-supported": (scopes("mcp:basic", "mcp:read"), OAUTH),
    "iss-not-advertised": (faults("metadata-without-iss", "missing-iss"), OAUTH),
}


def make_flow(**settings: Any) -> OAuthFlow:
    return OAuthFlow(**{**BASE, **settings})


async def documents(flow: OAuthFlow) -> dict[str, dict[str, Any]]:
    """The metadata documents by path."""
    path = flow.authority.settings.path
    responses = {
        place: await flow.http.get(place) for place in {f"{OAUTH}{path}", f"{OIDC}{path}", f"{path}{OIDC}"}
    }
    return {place: response.json() for place, response in responses.items() if response.status_code == 200}


async def identity(flow: OAuthFlow, document: dict[str, Any]) -> dict[str, Any]:
    """Obtain a client id, in the order that clients prefer."""
    if flow.authority.preregistered:
        return {
            "client_id": "known",
            "client_secret": "s3cret",
            "token_endpoint_auth_method": "client_secret_basic",
        }
    if document.get("client_id_metadata_document_supported"):
        return {"client_id": CIMD, "token_endpoint_auth_method": "none"}
    metadata = {"redirect_uris": [CALLBACK], "grant_types": ["authorization_code", "refresh_token"]}
    response = await flow.http.post(document["registration_endpoint"], json=metadata)
    assert response.status_code == 201, response.text
    registered: dict[str, Any] = response.json()
    return registered


async def by_code(
    flow: OAuthFlow, document: dict[str, Any], client: dict[str, Any], **headers: str
) -> httpx2.Response:
    parameters = flow.request(client_id=client["client_id"], redirect_uri=CALLBACK, scope=None)
    back = answered(await flow.http.get(document["authorization_endpoint"], params=parameters))
    form = {"grant_type": "authorization_code", "code": back["code"], "code_verifier": VERIFIER}
    form |= {"redirect_uri": CALLBACK, "resource": RESOURCE}
    method, secret = client["token_endpoint_auth_method"], client.get("client_secret")
    if method == "client_secret_basic":
        headers |= basic(client["client_id"], secret)
    else:
        form |= present({"client_id": client["client_id"], "client_secret": secret})
    return await flow.http.post(document["token_endpoint"], data=form, headers=headers)


def basic(name: str, secret: str | None) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(f'{name}:{secret}'.encode()).decode()}"}


@pytest.mark.parametrize("name", BY_CODE)
async def test_a_healthy_client_finds_the_metadata_at_one_place_and_gets_a_token(name: str) -> None:
    settings, place = BY_CODE[name]
    flow = make_flow(**settings)
    published = await documents(flow)
    assert [*published] == ([] if place is None else [place])
    root = {
        f"{name}_endpoint": f"{ISSUER}/{at}"
        for name, at in (("authorization", "authorize"), ("token", "token"), ("registration", "register"))
    }
    document = root if place is None else published[place]
    response = await by_code(flow, document, await identity(flow, document))
    assert response.status_code == 200, response.text
    assert response.json().keys() == {"access_token", "token_type", "expires_in"}
    claims = access_of(flow.authority, response.json()["access_token"])
    assert claims is not None
    assert (claims["aud"], claims["scope"]) == (RESOURCE, "")


@pytest.mark.parametrize(
    ("settings", "name", "expected"),
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
async def test_the_metadata_says_what_was_set(settings: dict[str, Any], name: str, expected: Any) -> None:
    (document,) = (await documents(make_flow(**settings))).values()
    assert document.get(name) == expected


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
    flow = make_flow(**faults(*names), **DESCRIBED)
    assert answered(await flow.authorize(client_id=CIMD, redirect_uri=CALLBACK)).get("iss") == iss


async def test_endpoints_of_a_document_with_another_issuer_have_a_place_of_their_own() -> None:
    flow = make_flow(**faults("issuer-mismatch"), endpoints="/mismatched-as")
    (document,) = (await documents(flow)).values()
    assert document["issuer"] == "https://attacker.example"
    assert document["token_endpoint"] == f"{ISSUER}/mismatched-as/token"
    assert (await flow.http.post("/token")).status_code == 404


async def test_a_client_of_one_authority_is_unknown_at_another() -> None:
    first, second = make_flow(), make_flow(issuer="http://127.0.0.1:9001")
    (document,) = (await documents(first)).values()
    client = await identity(first, document)
    response = await second.authorize(client_id=client["client_id"], redirect_uri=CALLBACK)
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
    flow = make_flow(
        grants=("client_credentials",),
        methods=("private_key_jwt",),
        registration=False,
        lifetimes=Lifetimes(assertion=86_400.0),
        clients=(robot,),
    )
    claims = {"iss": "robot", "sub": "robot", "aud": f"{ISSUER}/", "exp": int(flow.clock()) + 3600}
    signed = jwt.encode(claims, key.private, "ES256", headers={"kid": "made-up"})
    kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    response = await flow.token(
        grant_type="client_credentials",
        client_assertion_type=kind,
        client_assertion=signed,
        resource=RESOURCE,
    )
    assert flow.claims(response.json()["access_token"])["sub"] == "robot"


async def test_a_client_acts_for_itself_with_its_secret_and_nobody_registers() -> None:
    robot = Client(id="known", secret=digest("s3cret"), methods=KNOWN.methods, grants=("client_credentials",))
    flow = make_flow(grants=robot.grants, methods=robot.methods, registration=False, clients=(robot,))
    response = await flow.token(grant_type="client_credentials", headers=basic("known", "s3cret"))
    assert flow.claims(response.json()["access_token"])["sub"] == "known"
    by_post = await flow.token(grant_type="client_credentials", client_id="known", client_secret="s3cret")
    assert error_of(by_post) == "401 invalid_client"
    assert error_of(await flow.http.post("/register", json={})) == "403 access_denied"


async def test_an_identity_provider_vouches_for_a_person_at_another_authority() -> None:
    at_provider = Client(id="at-idp", grants=(TOKEN_EXCHANGE,), id_elsewhere="known")
    provider = make_flow(
        issuer="http://127.0.0.1:9001", grants=(TOKEN_EXCHANGE,), registration=False, clients=(at_provider,)
    )
    voucher = Trusted(
        issuer=provider.authority.issuer, jwks=provider.authority.jwks(), type="oauth-id-jag+jwt"
    )
    client = Client(id="known", secret=digest("s3cret"), methods=KNOWN.methods, grants=(JWT_BEARER,))
    flow = make_flow(
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
    response = await flow.token(grant_type=JWT_BEARER, assertion=jag, headers=basic("known", "s3cret"))
    claims = flow.claims(response.json()["access_token"])
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
    flow = make_flow(
        grants=(JWT_BEARER,),
        registration=False,
        clients=(Client(id="workload-client", grants=(JWT_BEARER,)),),
        trusted=(Trusted(issuer=WORKLOAD.issuer, jwks=WORKLOAD.jwks(), client_id="workload-client"),),
        refused_scopes={"wif.trigger-unauthorized": "unauthorized_client", "wif.rejected": "invalid_scope"},
    )
    response = await flow.token(**{"grant_type": JWT_BEARER, "client_id": "workload-client", **form})
    if outcome != "200":
        assert error_of(response) == outcome
        return
    claims = flow.claims(response.json()["access_token"])
    assert (claims["sub"], claims["client_id"]) == ("workload", "workload-client")


async def test_tokens_are_bound_to_a_key_and_the_proof_has_a_nonce() -> None:
    offered = {**METADATA, "dpop_signing_alg_values_supported": ["ES256"]}
    flow = make_flow(dpop_nonce=True, lifetimes=Lifetimes(proof=300.0), metadata=offered)
    (document,) = (await documents(flow)).values()
    assert document["dpop_signing_alg_values_supported"] == ["ES256"]
    client, key, early = await identity(flow, document), new_key("ES256"), int(flow.clock()) - 200
    refused = await by_code(flow, document, client, dpop=proof(key, iat=early))
    assert error_of(refused) == "400 use_dpop_nonce"
    nonce = refused.headers["dpop-nonce"]
    response = await by_code(flow, document, client, dpop=proof(key, iat=early, nonce=nonce, jti="2"))
    assert response.json()["token_type"] == "DPoP"
    claims = access_of(flow.authority, response.json()["access_token"])
    assert claims is not None
    assert claims["cnf"] == {"jkt": thumbprint(key.jwk())}
