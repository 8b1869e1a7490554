"""Codes and refresh tokens used in any order, compared with a small model."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.authority.flow import OAuthFlow


class Family:
    """The model's state of one grant."""

    def __init__(self, code: str, now: float) -> None:
        self.code = code
        self.code_until = now + 60
        self.until = self.access_until = 0.0
        self.revoked = False
        self.refreshes: list[str] = []
        self.access = ""

    def alive(self, now: float) -> bool:
        return not self.revoked and now < self.until

    def take(self, tokens: dict[str, Any], now: float) -> None:
        assert tokens["refresh_token"] not in self.refreshes
        self.refreshes.append(tokens["refresh_token"])
        self.access, self.access_until = tokens["access_token"], now + 300


class Tokens:
    """Grants at an authority, and the operations on them."""

    def __init__(self, flow: OAuthFlow) -> None:
        self.walk = flow

    @property
    def now(self) -> float:
        return self.walk.clock()

    async def look(self, family: Family) -> None:
        """The newest tokens of a live grant are active until they expire; older ones never are."""
        alive = family.alive(self.now)
        for token in family.refreshes:
            newest = token == family.refreshes[-1]
            assert (await self.walk.introspect(token))["active"] is (alive and newest)
        if family.access:
            good = alive and self.now < family.access_until
            assert (await self.walk.introspect(family.access))["active"] is good

    async def exchange(self, family: Family) -> None:
        response = await self.walk.exchange(family.code)
        fresh, first = self.now < family.code_until, not family.refreshes
        assert (response.status_code == 200) is (fresh and first)
        if fresh and first:
            family.until = self.now + 86_400
            family.take(response.json(), self.now)
        elif fresh:
            # A code that is used again is stolen, as long as its record lasts.
            family.revoked = True

    async def refresh(self, family: Family) -> None:
        await self._refresh(family, *family.refreshes[-1:])

    async def refresh_with_an_old_one(self, family: Family) -> None:
        await self._refresh(family, *family.refreshes[:1])

    async def _refresh(self, family: Family, *tokens: str) -> None:
        for token in tokens:
            alive = family.alive(self.now)
            good = alive and token == family.refreshes[-1]
            response = await self.walk.refresh(token)
            assert (response.status_code == 200) is good
            if good:
                family.take(response.json(), self.now)
            elif alive:
                family.revoked = True

    async def refresh_as_another(self, family: Family) -> None:
        for token in family.refreshes[-1:]:
            form = {"client_id": "confidential", "client_secret": "s3cret"}
            assert (await self.walk.refresh(token, **form)).status_code == 400

    async def revoke(self, family: Family) -> None:
        for token in family.refreshes[:1]:
            form = {"token": token, "client_id": "public"}
            assert (await self.walk.http.post("/revoke", data=form)).status_code == 200
            family.revoked = True

    async def wait(self, family: Family) -> None:
        self.walk.clock.now += 40.0

    async def wait_long(self, family: Family) -> None:
        self.walk.clock.now += 43_000.0

    async def rotate_the_key(self, family: Family) -> None:
        self.walk.authority.rotate()


DEEDS = (
    Tokens.exchange,
    Tokens.refresh,
    Tokens.refresh_with_an_old_one,
    Tokens.refresh_as_another,
    Tokens.revoke,
    Tokens.wait,
    Tokens.wait_long,
    Tokens.rotate_the_key,
)
Deeds = list[tuple[Callable[[Tokens, Family], Any], int]]
ANY_ORDER = st.lists(st.tuples(st.sampled_from(DEEDS), st.integers(0, 1)), min_size=4, max_size=15)


async def live_through(deeds: Deeds, *faults: str) -> None:
    tokens = Tokens(OAuthFlow(faults=faults))
    families = [Family(await tokens.walk.code(), tokens.now) for _ in range(2)]
    await tokens.exchange(families[0])
    for deed, number in deeds:
        await deed(tokens, families[number])
        for family in families:
            await tokens.look(family)


@given(ANY_ORDER)
@settings(max_examples=25, deadline=None)
def test_whatever_is_done_to_them_tokens_are_good_when_they_should_be(deeds: Deeds) -> None:
    asyncio.run(live_through(deeds))


@pytest.mark.parametrize(
    ("fault", "deeds"),
    [
        ("code-reuse", [Tokens.exchange]),
        ("no-refresh-rotation", [Tokens.refresh]),
        ("no-reuse-detection", [Tokens.refresh, Tokens.refresh_with_an_old_one]),
    ],
)
async def test_the_model_notices_a_rule_that_is_broken(fault: str, deeds: list[Any]) -> None:
    await live_through([(deed, 0) for deed in deeds])
    with pytest.raises(AssertionError):
        await live_through([(deed, 0) for deed in deeds], fault)
