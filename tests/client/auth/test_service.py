"""Programs, workloads and enterprises get tokens of real authorization servers, also bound to a key."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from assay import AuthorizationFailed, Client, ClientCredentials, EnterpriseAuth, OAuth, WorkloadIdentity
from assay.auth.dpop import DPoP
from assay.authority.authority import Authority
from assay.authority.record import EVERY_GRANT, JWT_BEARER, TOKEN_EXCHANGE, digest
from assay.authority.record import Client as Registered
from assay.authority.settings import Trusted
from tests.auth.issuer import ec_key, ed_key, public_jwk, rsa_key
from tests.client.auth.world import protected

CREDENTIALS: Any = {"grants": ("client_credentials",)}
SECRET = "s3cret/+ä:"
KEYS = {"ES256": ec_key, "RS256": rsa_key, "EdDSA": ed_key}


def pem(key: Any) -> str:
    text: str = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return text


def registered(**options: Any) -> Registered:
    usual = {"id": "robot:1", "secret": digest(SECRET), "grants": ("client_credentials",)}
    return Registered(**{**usual, **options})


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_program_gets_a_token_with_its_secret(method: str) -> None:
    known = registered(methods=(method,))
    auth = ClientCredentials("robot:1", SECRET)
    async with protected(clients=(known,), methods=(method,), **CREDENTIALS) as world:
        async with Client(world.url, auth=auth) as client:
            await client.call("save")
        assert world.grants() == ["client_credentials"] * 2
        assert [request.form["scope"] for request in world.at("/token")] == ["read", "read write"]


@pytest.mark.parametrize("algorithm", KEYS)
async def test_a_program_gets_a_token_with_its_private_key(algorithm: str) -> None:
    key = KEYS[algorithm]()
    known = registered(secret="", methods=("private_key_jwt",), jwks={"keys": [public_jwk(key, kid="mine")]})
    auth = ClientCredentials("robot:1", private_key=pem(key), key_id="mine")
    async with protected(clients=(known,), **CREDENTIALS) as world, Client(world.url, auth=auth) as client:
        await client.call("greet")
        assertion = world.at("/token")[0].form["client_assertion"]
        claims = jwt.decode(assertion, options={"verify_signature": False})
        assert claims["aud"] == world.issuer
        assert jwt.get_unverified_header(assertion)["alg"] == algorithm


async def test_a_wrong_secret_is_an_error_with_its_code() -> None:
    async with protected(clients=(registered(methods=("client_secret_basic",)),), **CREDENTIALS) as world:
        with pytest.raises(AuthorizationFailed, match="invalid_client") as failure:
            await Client(world.url, auth=ClientCredentials("robot:1", "wrong")).open()
        assert failure.value.error == "invalid_client"
        assert len(world.at("/token")) == 1


def platform_token(audience: str) -> str:
    now = int(time.time())
    claims = {"iss": "https://platform.example", "sub": "pod-1", "aud": audience, "iat": now, "exp": now + 60}
    return jwt.encode({**claims, "jti": str(now)}, ec_key(), "ES256", {"kid": "ec"})


async def test_a_workload_gets_a_token_with_the_one_of_its_platform() -> None:
    platform = Trusted(issuer="https://platform.example", jwks={"keys": [public_jwk(ec_key(), kid="ec")]})
    known = Registered(id="pods", grants=(JWT_BEARER,))
    async with protected(clients=(known,), trusted=(platform,), grants=EVERY_GRANT) as world:

        async def current() -> str:
            return platform_token(world.issuer)

        async with Client(world.url, auth=WorkloadIdentity(current, client_id="pods")) as client:
            assert (await client.call("greet")).text.endswith("pod-1")
        assert world.grants() == [JWT_BEARER]


def id_token(provider: Authority) -> str:
    claims = provider.claims(
        subject="ann", client_id="app-at-provider", audience=["app-at-provider"], scopes=()
    )
    claims.pop("scope")
    return provider.sign(claims, "JWT", provider.faults)


@pytest.mark.parametrize("option", ["idp_issuer", "idp_token_endpoint"])
async def test_an_identity_provider_decides_for_the_user_of_an_enterprise(option: str) -> None:
    at_provider = Registered(id="app-at-provider", grants=(TOKEN_EXCHANGE,), id_elsewhere="app")
    async with protected(clients=(at_provider,), grants=EVERY_GRANT) as provider:
        trusted = Trusted(issuer=provider.issuer, jwks=provider.office.jwks(), type="oauth-id-jag+jwt")
        known = registered(id="app", methods=("client_secret_basic",), grants=(JWT_BEARER,))
        address: dict[str, Any] = {
            "idp_issuer": provider.issuer,
            "idp_token_endpoint": f"{provider.issuer}/token",
        }
        auth = EnterpriseAuth(
            "app",
            SECRET,
            id_token=id_token(provider.office),
            idp_client_id="app-at-provider",
            **{option: address[option]},
        )
        async with protected(clients=(known,), trusted=(trusted,), grants=EVERY_GRANT) as world:
            async with Client(world.url, auth=auth) as client:
                assert (await client.call("greet")).text.endswith("ann")
            assert world.grants() == [JWT_BEARER]
            exchange = provider.at("/token")[0].form
            assert (exchange["audience"], exchange["resource"]) == (world.issuer, world.url)
            assert not world.at("/authorize")


@pytest.mark.parametrize("transport", ["http", "ws"])
@pytest.mark.parametrize("nonce", [False, True])
async def test_tokens_are_bound_to_a_key_if_the_server_demands_it(transport: str, nonce: bool) -> None:
    auth = {"dpop": DPoP(required=True, nonce=nonce)}
    async with protected(auth=auth, dpop_nonce=nonce) as world:
        url = world.url if transport == "http" else world.socket_url
        async with Client(url, auth=OAuth(headless=True)) as client:
            await client.call("greet")
            await client.call("greet")
        sent = [request.headers for request in world.server.received if "dpop" in request.headers]
        assert all(headers["authorization"].startswith("DPoP ") for headers in sent)
        proofs = [jwt.decode(headers["dpop"], options={"verify_signature": False}) for headers in sent]
        assert len({proof["jti"] for proof in proofs}) == len(proofs) > 0


async def test_a_bound_token_is_refreshed_with_the_same_key() -> None:
    async with protected() as world, Client(world.url, auth=OAuth(headless=True, dpop=True)) as client:
        await client.call("greet")
        world.server.refused.add(world.last_token)
        await client.call("greet")
        keys = {
            str(jwt.get_unverified_header(request.headers["dpop"])["jwk"]) for request in world.at("/token")
        }
        assert world.grants() == ["authorization_code", "refresh_token"]
        assert len(keys) == 1
