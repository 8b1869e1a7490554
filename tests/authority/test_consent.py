"""The consent page: what it shows, and whose click counts."""

from typing import Any

import httpx2
import pytest

from assay.authority.record import Client
from tests.authority.walk import ISSUER, REDIRECT, Walk, answered, inputs_of

EVIL = '"><script>alert(1)</script>'


async def shown(walk: Walk, **changes: Any) -> tuple[httpx2.Response, str]:
    response = await walk.authorize(**changes)
    assert response.status_code == 200
    return response, dict(inputs_of(response.text))["ticket"]


def asking(**settings: Any) -> Walk:
    return Walk(auto_approve=False, **settings)


async def click(walk: Walk, ticket: str, *, decision: str = "allow", **options: Any) -> httpx2.Response:
    fields = {"ticket": ticket, "decision": decision, "scope": ["read"], **options.pop("fields", {})}
    return await walk.http.post("/consent", data=fields, **options)


async def test_the_page_says_that_it_is_for_development_and_where_the_answer_goes() -> None:
    page, _ = await shown(asking())
    for words in ("development", "127.0.0.1:1234", "Public", "http://127.0.0.1:3000/mcp", "this machine"):
        assert words in page.text


async def test_nothing_that_a_client_says_becomes_part_of_the_page() -> None:
    client = Client(id=EVIL, name=EVIL, redirects=(REDIRECT,))
    page, _ = await shown(asking(clients=(client,)), client_id=EVIL, scope="a>b&c")
    assert "<script" not in page.text
    assert "&lt;script&gt;" in page.text


async def test_the_page_runs_nothing_is_framed_by_nobody_and_is_not_stored() -> None:
    page, _ = await shown(asking())
    policy = page.headers["content-security-policy"]
    for rule in ("default-src 'none'", "frame-ancestors 'none'", "form-action 'self' http://127.0.0.1:1234"):
        assert rule in policy
    assert "script-src" not in policy
    assert page.headers["cache-control"] == "no-store"
    assert "HttpOnly" in page.headers["set-cookie"]
    assert "SameSite=Lax" in page.headers["set-cookie"]


@pytest.mark.parametrize(("issuer", "secure"), [(ISSUER, False), ("https://a.example", True)])
async def test_the_cookie_goes_by_https_only_where_there_is_https(issuer: str, secure: bool) -> None:
    page, _ = await shown(asking(issuer=issuer))
    assert ("; Secure" in page.headers["set-cookie"]) is secure


async def test_a_no_is_told_to_the_client() -> None:
    walk = asking()
    _, ticket = await shown(walk)
    back = answered(await click(walk, ticket, decision="deny"))
    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "state-1", ISSUER)


async def test_only_what_is_ticked_is_granted_and_nothing_that_was_not_asked_for() -> None:
    walk = asking(users=("ann", "ben"))
    _, ticket = await shown(walk, scope="read write")
    ticked = {"scope": ["write", "admin"], "user": "ben"}
    back = answered(await click(walk, ticket, fields=ticked))
    given = (await walk.exchange(back["code"])).json()
    assert given["scope"] == "write"
    assert walk.claims(given["access_token"])["sub"] == "ben"


async def test_a_click_counts_once() -> None:
    walk = asking()
    _, ticket = await shown(walk)
    assert (await click(walk, ticket)).status_code == 303
    assert (await click(walk, ticket)).status_code == 400


async def test_a_click_in_another_browser_does_not_count() -> None:
    walk = asking()
    _, ticket = await shown(walk)
    for cookie in (None, "assay_authority=" + "x" * 43, "assay_authority=short"):
        walk.http.cookies.clear()
        headers = {} if cookie is None else {"cookie": cookie}
        assert (await click(walk, ticket, headers=headers)).status_code == 400


@pytest.mark.parametrize("origin", ["https://attacker.example", "null", "http://127.0.0.1:1234", "http://["])
async def test_a_click_from_another_site_does_not_count(origin: str) -> None:
    walk = asking()
    _, ticket = await shown(walk)
    assert (await click(walk, ticket, headers={"origin": origin})).status_code == 400
    assert (await click(walk, ticket, headers={"origin": ISSUER})).status_code == 303


@pytest.mark.parametrize(("name", "status"), [("localhost", 303), ("rebound.example", 400)])
async def test_a_click_on_a_page_of_another_name_that_leads_here_does_not_count(
    name: str, status: int
) -> None:
    walk, origin = asking(), f"http://{name}:9000"
    page = await walk.http.get(f"{origin}/authorize", params=walk.wish())
    fields = {"ticket": dict(inputs_of(page.text))["ticket"], "decision": "allow"}
    back = await walk.http.post(f"{origin}/consent", data=fields, headers={"origin": origin})
    assert back.status_code == status


async def test_a_click_that_comes_late_does_not_count() -> None:
    walk = asking()
    _, ticket = await shown(walk)
    walk.clock.now += walk.authority.settings.lifetimes.ticket
    assert (await click(walk, ticket)).status_code == 400


async def test_two_pages_in_one_browser_can_both_be_answered() -> None:
    walk = asking()
    _, first = await shown(walk)
    _, second = await shown(walk)
    assert (await click(walk, first)).status_code == 303
    assert (await click(walk, second)).status_code == 303
