"""Tokens of several kinds: what can be made of a good one, and how they are kept fresh."""

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
    Wallet,
    claims_of,
    spoiled,
)

CLAIMS = base64.urlsafe_b64encode(b'{"sub":"one"}').rstrip(b"=").decode()
TOKEN = f"eyJhbGciOiJFUzI1NiJ9.{CLAIMS}.AbCdEfGh"


def test_bad_tokens_say_the_same_as_the_good_one_and_differ_in_what_proves_it() -> None:
    made = spoiled(TOKEN)
    assert set(made) == {MALFORMED, GARBAGE, ALTERED, UNSIGNED, FORGED}
    for kind in (ALTERED, UNSIGNED, FORGED):
        assert claims_of(made[kind]) == {"sub": "one"}
        assert made[kind].split(".")[2] != "AbCdEfGh"


def test_unsigned_token_says_that_it_is() -> None:
    head, _, signature = spoiled(TOKEN)[UNSIGNED].split(".")
    assert json.loads(base64.urlsafe_b64decode(head + "=="))["alg"] == "none"
    assert signature == ""


@pytest.mark.parametrize("token", ["opaque-token", "a.b", "a.b.c", "..", f"{CLAIMS}.{CLAIMS}."])
def test_of_a_token_that_cannot_be_read_no_token_is_made(token: str) -> None:
    assert set(spoiled(token)) == {MALFORMED, GARBAGE}


async def test_every_token_is_told_to_whoever_must_not_keep_it() -> None:
    learned: list[str] = []

    async def grant(scopes: object) -> str:
        return "with-other-scopes"

    wallet = Wallet({USUAL: TOKEN, OTHER: "another-one"}, grant=grant, learn=learned.append)
    assert await wallet.step_up(["read"])
    assert {TOKEN, "another-one", "with-other-scopes", spoiled(TOKEN)[FORGED]} <= set(learned)
    assert wallet.get(STEPPED) == "with-other-scopes"


@pytest.mark.parametrize(("seconds", "fetched"), [(0.0, 3), (3600.0, 1)])
async def test_tokens_are_got_again_when_half_their_time_is_over(seconds: float, fetched: int) -> None:
    count = 0

    async def fetch() -> tuple[Mapping[str, str], float]:
        nonlocal count
        count += 1
        return {USUAL: f"token-{count}"}, seconds

    wallet = Wallet(fetch=fetch)
    for _ in range(3):
        await wallet.keep_fresh()
    assert (count, wallet.get(USUAL)) == (fetched, f"token-{fetched}")


async def test_a_token_whose_moment_matters_is_got_when_it_is_needed() -> None:
    learned: list[str] = []

    async def mint(kind: str) -> str:
        return f"a-new-token-{kind}"

    wallet = Wallet({USUAL: TOKEN, SKEWED: "an-old-token"}, mint=mint, learn=learned.append)
    assert await wallet.renew(SKEWED)
    assert wallet.get(SKEWED) == learned[-1] == "a-new-token-skewed"


async def test_without_a_mint_the_token_that_there_is_stays() -> None:
    wallet = Wallet({USUAL: TOKEN, SKEWED: "an-old-token"})
    assert not await wallet.renew(SKEWED)
    assert wallet.get(SKEWED) == "an-old-token"


async def test_without_a_source_there_are_no_other_scopes_to_be_had() -> None:
    wallet = Wallet({USUAL: TOKEN})
    assert STEPPED not in wallet.kinds
    assert not await wallet.step_up(["read"])
