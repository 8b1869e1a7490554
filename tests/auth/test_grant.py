"""Arbitrary claims of a token or a proof are either accepted or refused; nothing else happens."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.auth.dpop import DPoP, Proofs
from assay.auth.error import AuthorizationError
from assay.auth.grant import Grant, TokenRules
from tests.auth.issuer import RESOURCE, digest, ec_key, proof, thumbprint

ISSUER = "https://as.example"
RULES = TokenRules(ISSUER, frozenset({RESOURCE}), 10.0, {"admin": ["use"]})
NAMES = [
    "iss",
    "aud",
    "exp",
    "nbf",
    "iat",
    "sub",
    "client_id",
    "scope",
    "scp",
    "cnf",
    "jti",
    "htm",
    "htu",
    "ath",
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 0, 2_000_000_000]),
    st.floats(),
    st.text(max_size=10),
    st.sampled_from([ISSUER, RESOURCE, "use", "admin", "jkt", "x5t#S256"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["jkt", "x5t#S256", "x"]), inner, max_size=2),
    ),
    max_leaves=5,
)
CHANGES = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3)
GOOD: dict[str, Any] = {"iss": ISSUER, "aud": RESOURCE, "sub": "ann", "exp": 2_000_000_000, "scope": "use"}


@settings(max_examples=150, deadline=None)
@given(CHANGES)
def test_claims_make_a_grant_or_are_refused(changes: dict[str, Any]) -> None:
    claims = {**GOOD, **changes}
    try:
        grant = RULES.read(claims, 1_900_000_000.0)
    except AuthorizationError as error:
        assert error.status == 401
        return
    assert isinstance(grant, Grant)
    assert (claims["iss"], grant.principal.startswith(f"{ISSUER}#")) == (ISSUER, True)
    assert claims["aud"] == RESOURCE or RESOURCE in claims["aud"]
    assert grant.expires > 1_900_000_000
    assert bool(claims.get("cnf")) == (grant.key is not None or grant.certificate is not None)


@settings(max_examples=50, deadline=None)
@given(CHANGES.filter(bool))
def test_a_proof_with_other_claims_is_refused_unless_they_do_not_matter(changes: dict[str, Any]) -> None:
    token = "token"
    meaning = {"htm": "POST", "htu": RESOURCE, "ath": digest(token)}
    try:
        text = proof(token, **changes).encode()
        proofs = Proofs(DPoP(), time.time)
        proofs.check([text], token.encode(), thumbprint(ec_key("holder")), ("POST", RESOURCE))
    except AuthorizationError as error:
        assert error.status == 401
        return
    assert {name: changes.get(name, right) for name, right in meaning.items()} == meaning


def test_cached_claims_are_read_only() -> None:
    source = {**GOOD, "roles": ["reader"], "realm": {"roles": ["reader"]}}
    claims: Any = RULES.read(source, 1_900_000_000.0).claims
    assert (claims["sub"], claims["roles"], claims["realm"]["roles"]) == ("ann", ("reader",), ("reader",))
    for change in (
        lambda: claims.update(sub="root"),
        lambda: claims["roles"].append("admin"),
        lambda: claims["realm"].update(roles=["admin"]),
        lambda: claims["realm"]["roles"].append("admin"),
    ):
        with pytest.raises(AttributeError):
            change()
    with pytest.raises(TypeError):
        claims["sub"] = "root"


def test_deeply_nested_claims_are_refused() -> None:
    deep: list[Any] = []
    for _ in range(sys.getrecursionlimit()):
        deep = [deep]
    with pytest.raises(AuthorizationError, match="nested"):
        RULES.read({**GOOD, "deep": deep}, 1_900_000_000.0)
