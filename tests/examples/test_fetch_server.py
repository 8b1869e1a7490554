"""The fetch server: pages as Markdown, robots.txt, redirects, and addresses that are not public."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from examples import fetch_server
from examples.fetch_server import server, to_markdown
from tests.server.scripted import GUARD

PAGE = "<html><head><title>t</title></head><body><h1>Hats</h1><p>Buy <a href='/x'>one</a>.</p></body></html>"
PAGES = {
    "/robots.txt": ("text/plain", "User-agent: *\nDisallow: /private\n"),
    "/page": ("text/html; charset=utf-8", PAGE),
    "/private": ("text/html", PAGE),
    "/data": ("application/json", '{"hats": 3}'),
    "/large": ("text/plain", "x" * (fetch_server.BYTES + 1)),
    "/long": ("text/plain", "0123456789"),
}
REDIRECTS = {
    "/moved": "/page",
    "/loop": "/loop",
    "/inside": "http://169.254.169.254/latest",
    "/file": "file:///etc/passwd",
}


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path in REDIRECTS:
            self.send_response(302)
            self.send_header("location", REDIRECTS[self.path])
            self.send_header("content-length", "0")
            self.end_headers()
            return
        kind, text = PAGES.get(self.path, ("text/plain", "missing"))
        self.send_response(200 if self.path in PAGES else 404)
        self.send_header("content-type", kind)
        if self.path == "/zipped":
            self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *arguments: Any) -> None: ...


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A site on this machine, which counts as public here."""
    monkeypatch.setattr(fetch_server, "is_public", lambda address: address == "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


async def fetch(url: str, **arguments: Any) -> str:
    result = await asyncio.wait_for(server.tools.call("fetch", {"url": url, **arguments}), GUARD)
    text: str = result.content[0].text
    return f"error: {text}" if result.is_error else text


async def test_page_is_returned_as_markdown(site: str) -> None:
    assert await fetch(f"{site}/page") == f"Contents of {site}/page:\n# Hats\n\nBuy [one](/x)."


async def test_raw_page_and_other_types_stay_as_they_are(site: str) -> None:
    assert (await fetch(f"{site}/page", raw=True)).endswith(PAGE)
    assert (await fetch(f"{site}/data")).endswith('{"hats": 3}')


async def test_long_page_is_continued_at_an_index(site: str) -> None:
    first = await fetch(f"{site}/long", max_length=4)
    assert ":\n0123\n\n" in first and "start_index=4" in first
    assert (await fetch(f"{site}/long", start_index=4)).endswith(":\n456789")
    assert "has 10 characters" in await fetch(f"{site}/long", start_index=10)


async def test_redirect_is_followed(site: str) -> None:
    assert "# Hats" in await fetch(f"{site}/moved")


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/private", "robots.txt does not allow"),
        ("/missing", "returned status 404"),
        ("/zipped", "is compressed"),
        ("/large", "has more than"),
        ("/loop", "redirects more than"),
        ("/inside", "169.254.169.254 is not on the public internet"),
        ("/file", "only http and https can be fetched"),
    ],
)
async def test_page_that_cannot_be_fetched_names_the_reason(site: str, path: str, problem: str) -> None:
    assert problem in await fetch(f"{site}{path}")


async def test_prompt_ignores_robots_because_a_user_has_chosen_the_page(site: str) -> None:
    prompt = await server.prompts.get("fetch", {"url": f"{site}/private"})
    assert "# Hats" in prompt.messages[0].content.text


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "10.0.0.1",
        "2130706433",
        "0.0.0.0",
    ],
)
async def test_address_that_is_not_public_is_refused(host: str) -> None:
    assert "is not on the public internet" in await fetch(f"http://{host}:1/")


async def test_connection_goes_to_the_address_that_was_checked(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that resolves to another address the second time gains nothing: there is no second time."""
    port = int(site.rpartition(":")[2])
    looked_up: list[str] = []

    async def look_up(host: str, port: int, **options: Any) -> list[Any]:
        looked_up.append(host)
        return [(0, 0, 0, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
    assert "# Hats" in await fetch(f"http://hats.example:{port}/page")
    assert set(looked_up) <= {"hats.example", "127.0.0.1"}


@pytest.mark.parametrize(
    "url", ["ftp://example.org/", "file:///etc/passwd", "example.org", "http://" + "a" * 2000]
)
async def test_url_of_another_kind_is_refused(url: str) -> None:
    assert "invalid arguments" in await fetch(url)


def test_scripts_forms_and_navigation_are_left_out() -> None:
    html = "<nav>menu</nav><script>x<y</script><p>text</p><form><a href='/'>go</a></form><ul><li>a<li>b</ul>"
    assert to_markdown(html) == "text\n\n- a\n- b"
