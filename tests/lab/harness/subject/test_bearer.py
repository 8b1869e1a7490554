"""Tokens by kind: invalid variants of a valid token, and renewal."""

import base64
import json
from collections.abc import Mapping

import pytest

from assay.lab.harness.subject.bearer import (
    ALTERED,
    FORGED,
    GARBAGE,
    MALFORMED,
    OTHER,
    SKEWED,
    STEPPED,
    UNSIGNED,
    USUAL,
    TokenSet,
    claims_of,
    invalid_variants,
)

CLAIMS = base64.urlsafe_b64encode(b'{"sub":"one"}').rstrip(b"=").decode()
TOKEN = f"eyJhbGciOiJFUzI1NiJ9.{CLAIMS}.AbCdEfGh"


def test_invalid_variants_have_the_same_claims_and_another_signature() -> None:
    variants = invalid_variants(TOKEN)
    assert set(variants) == {MALFORMED, GARBAGE, ALTERED, UNSIGNED, FORGED}
    for kind in (ALTERED, UNSIGNED, FORGED):
        assert claims_of(variants[kind]) == {"sub": "one"}
        assert variants[kind].split(".")[2] != "AbCdEfGh"


def test_unsigned_token_declares_no_algorithm() -> None:
    head, _, signature = invalid_variants(TOKEN)[UNSIGNED].split(".")
    assert json.loads(base64.urlsafe_b64decode(head + "=="))["alg"] == "none"
    assert signature == ""


@pytest.mark.parametrize("token", ["opaque-token", "a.b", "a.b.c", "..", f"{CLAIMS}.{CLAIMS}."])
def test_opaque_token_has_no_variants(token: str) -> None:
    assert set(invalid_variants(token)) == {MALFORMED, GARBAGE}


async def test_every_token_is_passed_to_the_redaction() -> None:
    learned: list[str] = []

    async def grant(scopes: object) -> str:
        return "with-other-scopes"

    tokens = TokenSet({USUAL: TOKEN, OTHER: "another-one"}, grant=grant, learn=learned.append)
    assert await tokens.step_up(["read"])
    assert {TOKEN, "another-one", "with-other-scopes", invalid_variants(TOKEN)[FORGED]} <= set(learned)
    assert tokens.get(STEPPED) == "with-other-scopes"


@pytest.mark.parametrize(("seconds", "fetched"), [(0.0, 3), (3600.0, 1)])
async def test_tokens_are_renewed_after_half_their_lifetime(seconds: float, fetched: int) -> None:
    count = 0

    async def fetch() -> tuple[Mapping[str, str], float]:
        nonlocal count
        count += 1
        return {USUAL: f"token-{count}"}, seconds

    tokens = TokenSet(fetch=fetch)
    for _ in range(3):
        await tokens.keep_fresh()
    assert (count, tokens.get(USUAL)) == (fetched, f"token-{fetched}")


async def test_a_time_dependent_token_is_minted_on_demand() -> None:
    learned: list[str] = []

    async def mint(kind: str) -> str:
        return f"a-new-token-{kind}"

    tokens = TokenSet({USUAL: TOKEN, SKEWED: "an-old-token"}, mint=mint, learn=learned.append)
    assert await tokens.renew(SKEWED)
    assert tokens.get(SKEWED) == learned[-1] == "a-new-token-skewed"


async def test_without_a_mint_the_old_token_remains() -> None:
    tokens = TokenSet({USUAL: TOKEN, SKEWED: "an-old-token"})
    assert not await tokens.renew(SKEWED)
    assert tokens.get(SKEWED) == "an-old-token"


async def test_without_a_grant_no_other_scopes_are_available() -> None:
    tokens = TokenSet({USUAL: TOKEN})
    assert STEPPED not in tokens.kinds
    assert not await tokens.step_up(["read"])
