"""Each fault has its effect, and without faults there is none."""

import asyncio
from typing import Any

import jwt
import pytest

from assay.authority.authority import token_faults
from assay.authority.faults import FAULTS, Faults
from tests.authority.flow import ISSUER, OAuthFlow, answered, error_of, proof
from tests.authority.test_mint import TOLERATED

OAUTH = "/.well-known/oauth-authorization-server"
OIDC = "/.well-known/openid-configuration"
ELSEWHERE = "https://attacker.example"
CLOUD = "http://169.254.169.254/token"
SCRIPT = "javascript:alert(1)"


async def metadata(fault: str | None) -> dict[str, Any]:
    flow = OAuthFlow(faults=() if fault is None else (fault,))
    known: dict[str, Any] = (await flow.http.get(OAUTH)).json()
    return known


@pytest.mark.parametrize(
    ("fault", "name", "honest", "spoilt"),
    [
        ("issuer-mismatch", "issuer", ISSUER, ELSEWHERE),
        ("metadata-without-pkce", "code_challenge_methods_supported", ["S256"], None),
        ("metadata-plain-pkce", "code_challenge_methods_supported", ["S256"], ["plain"]),
        ("metadata-without-documents", "client_id_metadata_document_supported", True, None),
        ("metadata-without-registration", "registration_endpoint", f"{ISSUER}/register", None),
        ("metadata-without-iss", "authorization_response_iss_parameter_supported", True, None),
        ("token-endpoint-inside", "token_endpoint", f"{ISSUER}/token", CLOUD),
        ("authorization-endpoint-script", "authorization_endpoint", f"{ISSUER}/authorize", SCRIPT),
    ],
)
async def test_faults_of_documents(fault: str, name: str, honest: Any, spoilt: Any) -> None:
    good, bad = await metadata(None), await metadata(fault)
    assert (good[name], bad.get(name)) == (honest, spoilt)
    assert {key: value for key, value in good.items() if key != name}.items() <= bad.items()


async def test_every_endpoint_is_inside_a_private_network() -> None:
    bad = await metadata("endpoints-inside")
    names = ("authorization_endpoint", "token_endpoint", "registration_endpoint", "jwks_uri")
    assert all(bad[name].startswith("http://10.0.0.1/") for name in names)


async def test_a_document_is_huge_and_still_one() -> None:
    response = await OAuthFlow(faults=("metadata-huge",)).http.get(OAUTH)
    assert len(response.content) > 16 * 1024 * 1024
    assert response.json()["issuer"] == ISSUER


@pytest.mark.parametrize(
    ("settings", "host"), [({}, ELSEWHERE), ({"elsewhere": "http://127.0.0.1:9"}, "http://127.0.0.1:9")]
)
async def test_a_document_is_on_another_host(settings: dict[str, str], host: str) -> None:
    flow = OAuthFlow(faults=("metadata-redirect",), **settings)
    for place in (OAUTH, OIDC):
        response = await flow.http.get(place)
        assert (response.status_code, response.headers["location"]) == (303, f"{host}{place}")


@pytest.mark.parametrize(
    ("faults", "statuses"),
    [
        ((), (200, 200, 200)),
        (("metadata-404-oauth",), (404, 200, 200)),
        (("metadata-404-oidc",), (200, 404, 404)),
        (("metadata-only-appended",), (404, 404, 200)),
        (("metadata-404-oauth", "metadata-404-oidc"), (404, 404, 404)),
    ],
)
async def test_documents_can_be_missing(faults: tuple[str, ...], statuses: tuple[int, ...]) -> None:
    flow = OAuthFlow(issuer=f"{ISSUER}/tenant1", faults=faults)
    places = (f"{OAUTH}/tenant1", f"{OIDC}/tenant1", f"/tenant1{OIDC}")
    assert tuple([(await flow.http.get(place)).status_code for place in places]) == statuses


@pytest.mark.parametrize(
    ("fault", "statuses"),
    [
        ("metadata-404-oauth", (404, 200)),
        ("metadata-404-oidc", (200, 404)),
        ("metadata-only-appended", (404, 200)),
    ],
)
async def test_an_issuer_without_a_path_has_two_documents_of_which_one_is_missing(
    fault: str, statuses: tuple[int, int]
) -> None:
    flow = OAuthFlow(faults=(fault,))
    assert tuple([(await flow.http.get(place)).status_code for place in (OAUTH, OIDC)]) == statuses


@pytest.mark.parametrize(
    ("fault", "name", "spoilt"),
    [
        ("missing-iss", "iss", None),
        ("wrong-iss", "iss", ELSEWHERE),
        ("iss-with-slash", "iss", f"{ISSUER}/"),
        ("missing-state", "state", None),
        ("wrong-state", "state", "other"),
    ],
)
async def test_faults_of_redirects_reach_yes_and_no_alike(fault: str, name: str, spoilt: str | None) -> None:
    for changes in ({}, {"response_type": "token"}):
        assert answered(await OAuthFlow(faults=(fault,)).authorize(**changes)).get(name) == spoilt


@pytest.mark.parametrize("fault", [name for name in token_faults() if name not in TOLERATED])
async def test_faults_of_tokens_reach_what_the_endpoint_gives_out(fault: str) -> None:
    flow = OAuthFlow(faults=(fault,))
    token = (await flow.tokens())["access_token"]
    with pytest.raises((jwt.PyJWTError, KeyError)):
        flow.claims(token)


async def test_no_key_is_published() -> None:
    assert (await OAuthFlow(faults=("jwks-empty",)).http.get("/jwks")).json() == {"keys": []}


async def test_any_redirect_address_is_taken_but_no_script() -> None:
    flow = OAuthFlow(faults=("no-redirect-check",))
    response = await flow.authorize(redirect_uri=f"{ELSEWHERE}/x")
    assert response.headers["location"].startswith(f"{ELSEWHERE}/x?code=")
    assert (await flow.authorize(redirect_uri="javascript:alert(1)")).status_code == 400


async def test_the_verifier_is_not_looked_at() -> None:
    flow = OAuthFlow(faults=("no-pkce-check",))
    assert (await flow.exchange(await flow.code(), code_verifier="wrong")).status_code == 200


async def test_a_code_works_twice() -> None:
    flow = OAuthFlow(faults=("code-reuse",))
    code = await flow.code()
    assert [(await flow.exchange(code)).status_code for _ in range(3)] == [200, 200, 200]


async def test_a_refresh_token_stays_good() -> None:
    flow = OAuthFlow(faults=("no-refresh-rotation",))
    token = (await flow.tokens())["refresh_token"]
    assert [(await flow.refresh(token)).json()["refresh_token"] for _ in range(3)] == [token] * 3


async def test_an_old_refresh_token_is_refused_and_its_family_lives_on() -> None:
    flow = OAuthFlow(faults=("no-reuse-detection",))
    old = (await flow.tokens())["refresh_token"]
    new = (await flow.refresh(old)).json()["refresh_token"]
    assert error_of(await flow.refresh(old)) == "400 invalid_grant"
    assert (await flow.refresh(new)).status_code == 200


async def test_the_proof_binds_nothing() -> None:
    flow = OAuthFlow(faults=("dpop-ignored",))
    response = await flow.exchange(await flow.code(), headers={"dpop": proof()})
    assert response.json()["token_type"] == "Bearer"
    assert "cnf" not in flow.claims(response.json()["access_token"])


async def test_tokens_may_be_cached() -> None:
    flow = OAuthFlow(faults=("cached-token",))
    assert "no-store" not in (await flow.exchange(await flow.code())).headers["cache-control"]


async def test_every_answer_takes_its_time() -> None:
    flow = OAuthFlow(faults=("slow",), slowness=3600.0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await flow.http.get(OAUTH)


def test_every_fault_says_what_it_does_and_is_known_by_one_name() -> None:
    assert all(fault.about and name == fault.name for name, fault in FAULTS.items())
    assert all((fault.apply is None) is (fault.stage == "rule") for fault in FAULTS.values())
    with pytest.raises(ValueError, match="unknown fault: nonsense"):
        Faults(["nonsense"])
