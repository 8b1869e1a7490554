"""The consent page of `assay authority` in a real Chromium: a person's click, under the page's own policy."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.authority.flow import CHALLENGE
from tests.system.chromium import Browser, Page, PageError


class Callback(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>back</title><link rel=icon href='data:,'>")

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def redirect() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Callback) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/callback"
        server.shutdown()
        thread.join()


@pytest.fixture
def issuer() -> Iterator[str]:
    command = [sys.executable, "-m", "assay", "authority", "--port", "0", "--client", "app"]
    users = ["--user", "ann", "--user", "ben"]
    process = subprocess.Popen([*command, *users], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield [process.stdout.readline() for _ in range(2)][1].removeprefix("issuer: ").strip()
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    (tmp_path / "blank.html").write_text("<!doctype html><title>blank</title>")
    with browser.page(tmp_path / "blank.html") as opened:
        yield opened


def arrive(page: Page, condition: str) -> None:
    """Wait until it holds, across pages: what was asked of the page before is lost with it."""
    for _ in range(10):
        try:
            return page.until(condition)
        except PageError as error:
            if "navigated" not in str(error) and "collected" not in str(error):
                raise
    raise AssertionError(f"it never held: {condition}")


def open_consent(page: Page, issuer: str, redirect: str) -> None:
    wish = {
        "response_type": "code",
        "client_id": "app",
        "redirect_uri": redirect,
        "scope": "read write",
        "state": "s-1",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    page.call("Page.navigate", url=f"{issuer}/authorize?{urlencode(wish)}")
    arrive(page, "document.readyState === 'complete' && document.querySelector('form')")


def came_back(page: Page, redirect: str) -> dict[str, list[str]]:
    arrive(page, f"document.readyState === 'complete' && location.href.startsWith({json.dumps(redirect)})")
    return parse_qs(urlsplit(page.value("location.href")).query)


def refusals(page: Page) -> list[str]:
    """What the browser would not do; that requests are made is no complaint here."""
    return [said for said in page.complaints if not said.startswith("request: ") and "favicon" not in said]


@pytest.mark.parametrize(("button", "answer"), [("allow", "code"), ("deny", "error")])
def test_a_click_brings_the_answer_back_to_the_client(
    page: Page, issuer: str, redirect: str, button: str, answer: str
) -> None:
    open_consent(page, issuer, redirect)
    page.click(f"button[value={button}]")
    back = came_back(page, redirect)
    assert answer in back
    assert (back["state"], back["iss"]) == (["s-1"], [issuer])
    assert [said for said in refusals(page) if "Content Security" in said] == []


def test_the_page_is_styled_and_says_what_it_is(page: Page, issuer: str, redirect: str) -> None:
    open_consent(page, issuer, redirect)
    assert "development authorization server" in page.text(".notice")
    assert (
        page.value("getComputedStyle(document.querySelector('.notice')).backgroundColor")
        == "rgb(255, 243, 196)"
    )
    assert [label.strip() for label in page.texts("label")] == ["ann", "ben", "read", "write"]
