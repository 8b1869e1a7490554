"""The official suite asks a person to open an address: it is opened once, when its callback can arrive."""

import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import NamedTuple

import pytest

from interop.official_authority import follow


class Site(NamedTuple):
    issuer: str
    visited: list[str]


@pytest.fixture
def site() -> Iterator[Site]:
    visited: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            visited.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Site(f"http://127.0.0.1:{server.server_port}", visited)
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("lines", "visits"),
    [
        (["{issuer}/authorize?a=1", "Callback server started: x"], ["/authorize?a=1"]),
        (["Callback server started: x", "{issuer}/authorize?a=1", "more"], ["/authorize?a=1"]),
        (["{issuer}/authorize?a=1", "more"], []),
        (["Callback server started: x", "{issuer}/other", "see {issuer}/authorize?a=1"], []),
        ([], []),
    ],
)
def test_the_address_is_opened_once_when_its_answer_can_arrive(
    site: Site, lines: list[str], visits: list[str]
) -> None:
    output = "\n".join(lines).format(issuer=site.issuer)
    assert follow(io.BytesIO(output.encode()), site.issuer) == output
    assert site.visited == visits
