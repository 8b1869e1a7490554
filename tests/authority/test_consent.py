"""The consent page, and which decisions count."""

from typing import Any

import httpx2
import pytest

from assay.authority.record import Client
from tests.authority.flow import ISSUER, REDIRECT, OAuthFlow, answered, inputs_of

EVIL = '"><script>alert(1)</script>'


async def consent_page(flow: OAuthFlow, **changes: Any) -> tuple[httpx2.Response, str]:
    response = await flow.authorize(**changes)
    assert response.status_code == 200
    return response, dict(inputs_of(response.text))["ticket"]


def asking(**settings: Any) -> OAuthFlow:
    return OAuthFlow(auto_approve=False, **settings)


async def click(flow: OAuthFlow, ticket: str, *, decision: str = "allow", **options: Any) -> httpx2.Response:
    fields = {"ticket": ticket, "decision": decision, "scope": ["read"], **options.pop("fields", {})}
    return await flow.http.post("/consent", data=fields, **options)


async def test_the_page_says_that_it_is_for_development_and_where_the_answer_goes() -> None:
    page, _ = await consent_page(asking())
    for words in ("development", "127.0.0.1:1234", "Public", "http://127.0.0.1:3000/mcp", "this machine"):
        assert words in page.text


async def test_nothing_that_a_client_says_becomes_part_of_the_page() -> None:
    client = Client(id=EVIL, name=EVIL, redirects=(REDIRECT,))
    page, _ = await consent_page(asking(clients=(client,)), client_id=EVIL, scope="a>b&c")
    assert "<script" not in page.text
    assert "&lt;script&gt;" in page.text


async def test_the_page_runs_nothing_is_framed_by_nobody_and_is_not_stored() -> None:
    page, _ = await consent_page(asking())
    policy = page.headers["content-security-policy"]
    for rule in ("default-src 'none'", "frame-ancestors 'none'", "form-action 'self' http://127.0.0.1:1234"):
        assert rule in policy
    assert "script-src" not in policy
    assert page.headers["cache-control"] == "no-store"
    assert "HttpOnly" in page.headers["set-cookie"]
    assert "SameSite=Lax" in page.headers["set-cookie"]


@pytest.mark.parametrize(("issuer", "secure"), [(ISSUER, False), ("https://a.example", True)])
async def test_the_cookie_goes_by_https_only_where_there_is_https(issuer: str, secure: bool) -> None:
    page, _ = await consent_page(asking(issuer=issuer))
    assert ("; Secure" in page.headers["set-cookie"]) is secure


async def test_a_no_is_told_to_the_client() -> None:
    flow = asking()
    _, ticket = await consent_page(flow)
    back = answered(await click(flow, ticket, decision="deny"))
    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "state-1", ISSUER)


async def test_only_what_is_ticked_is_granted_and_nothing_that_was_not_asked_for() -> None:
    flow = asking(users=("ann", "ben"))
    _, ticket = await consent_page(flow, scope="read write")
    ticked = {"scope": ["write", "admin"], "user": "ben"}
    back = answered(await click(flow, ticket, fields=ticked))
    tokens = (await flow.exchange(back["code"])).json()
    assert tokens["scope"] == "write"
    assert flow.claims(tokens["access_token"])["sub"] == "ben"


async def test_a_click_counts_once() -> None:
    flow = asking()
    _, ticket = await consent_page(flow)
    assert (await click(flow, ticket)).status_code == 303
    assert (await click(flow, ticket)).status_code == 400


async def test_a_click_in_another_browser_does_not_count() -> None:
    flow = asking()
    _, ticket = await consent_page(flow)
    for cookie in (None, "assay_authority=" + "x" * 43, "assay_authority=short"):
        flow.http.cookies.clear()
        headers = {} if cookie is None else {"cookie": cookie}
        assert (await click(flow, ticket, headers=headers)).status_code == 400


@pytest.mark.parametrize("origin", ["https://attacker.example", "null", "http://127.0.0.1:1234", "http://["])
async def test_a_click_from_another_site_does_not_count(origin: str) -> None:
    flow = asking()
    _, ticket = await consent_page(flow)
    assert (await click(flow, ticket, headers={"origin": origin})).status_code == 400
    assert (await click(flow, ticket, headers={"origin": ISSUER})).status_code == 303


@pytest.mark.parametrize(("name", "status"), [("localhost", 303), ("rebound.example", 400)])
async def test_a_click_on_a_page_of_another_name_that_leads_here_does_not_count(
    name: str, status: int
) -> None:
    flow, origin = asking(), f"http://{name}:9000"
    page = await flow.http.get(f"{origin}/authorize", params=flow.request())
    fields = {"ticket": dict(inputs_of(page.text))["ticket"], "decision": "allow"}
    back = await flow.http.post(f"{origin}/consent", data=fields, headers={"origin": origin})
    assert back.status_code == status


async def test_a_click_that_comes_late_does_not_count() -> None:
    flow = asking()
    _, ticket = await consent_page(flow)
    flow.clock.now += flow.authority.settings.lifetimes.ticket
    assert (await click(flow, ticket)).status_code == 400


async def test_two_pages_in_one_browser_can_both_be_answered() -> None:
    flow = asking()
    _, first = await consent_page(flow)
    _, second = await consent_page(flow)
    assert (await click(flow, first)).status_code == 303
    assert (await click(flow, second)).status_code == 303
