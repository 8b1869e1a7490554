"""Web pages for a model, as Markdown.

What the fetch server of MCP's reference collection does, on Assay. Needs `pip install assay-mcp httpx2`.

python examples/fetch_server.py                                     serve on stdio
assay serve examples/fetch_server.py --transport http               serve at http://localhost:3000/mcp
"""

import asyncio
import re
from functools import cache
from html.parser import HTMLParser
from ipaddress import ip_address
from socket import SOCK_STREAM
from ssl import SSLContext
from typing import Annotated
from urllib.robotparser import RobotFileParser

import httpx2
from msgspec import Meta

from assay import Server, ToolAnnotations, ToolError

AGENT = "assay-fetch/1.0"
PORTS = {"http": 80, "https": 443}
BYTES, SECONDS, REDIRECTS = 2_000_000, 20, 5
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=True)
Url = Annotated[str, Meta(pattern="^https?://", max_length=2000, description="URL to fetch")]
Length = Annotated[int, Meta(ge=1, le=1_000_000, description="Characters to return at most")]
Start = Annotated[int, Meta(ge=0, description="Character to begin at, to continue a page that was cut")]
Raw = Annotated[bool, Meta(description="Return the page as it is, instead of as Markdown")]

server = Server("fetch", version="1.0.0")


@server.tool(annotations=READ_ONLY)
async def fetch(url: Url, max_length: Length = 5000, start_index: Start = 0, raw: Raw = False) -> str:
    """Fetch a page from the internet, as Markdown."""
    await check_robots(url)
    page = await read_page(url, raw=raw)
    part = page[start_index : start_index + max_length]
    if not part:
        raise ToolError(f"{url} has {len(page)} characters: nothing follows {start_index}")
    end = start_index + len(part)
    more = f"\n\n[The page continues: fetch it with start_index={end}]" if end < len(page) else ""
    return f"Contents of {url}:\n{part}{more}"


@server.prompt(name="fetch")
async def fetch_for_user(url: Annotated[str, "URL to fetch"]) -> str:
    """Fetch a page that the user has chosen. The rules for robots do not apply."""
    return await read_page(url)


async def check_robots(url: str) -> None:
    try:
        answer = await get(str(httpx2.URL(url).join("/robots.txt")))
    except httpx2.InvalidURL:
        raise ToolError(f"not a URL: {url}") from None
    rules = RobotFileParser()
    rules.parse(answer.text.splitlines())
    if answer.status_code in (401, 403) or answer.status_code >= 500:
        raise ToolError(f"the robots.txt of this site cannot be read (status {answer.status_code})")
    if answer.is_success and not rules.can_fetch(AGENT, url):
        raise ToolError(f"robots.txt does not allow {url}: the user can fetch it with the prompt `fetch`")


async def read_page(url: str, *, raw: bool = False) -> str:
    answer = await get(url)
    if answer.is_error:
        raise ToolError(f"{url} returned status {answer.status_code}")
    is_html = "html" in answer.headers.get("content-type", "html")
    # In a thread: a large page takes a while.
    return await asyncio.to_thread(to_markdown, answer.text) if is_html and not raw else answer.text


async def get(url: str) -> httpx2.Response:
    """Follow redirects step by step: each may lead to an address that must not be reached."""
    try:
        async with asyncio.timeout(SECONDS):
            target = httpx2.URL(url)
            for _ in range(REDIRECTS):
                answer = await get_one(target)
                if not answer.has_redirect_location:
                    return answer
                target = target.join(answer.headers["location"])
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
        raise ToolError(f"cannot fetch {url}: {type(error).__name__}") from None
    raise ToolError(f"{url} redirects more than {REDIRECTS} times")


async def get_one(url: httpx2.URL) -> httpx2.Response:
    if url.scheme not in PORTS:
        raise ToolError(f"only http and https can be fetched: {url}")
    # The connection goes to the address that was checked: a second look-up could return another one.
    address = url.copy_with(host=await public_address(url.host, url.port or PORTS[url.scheme]))
    headers = {"host": url.netloc.decode(), "user-agent": AGENT, "accept-encoding": "identity"}
    async with (
        httpx2.AsyncClient(verify=tls(), trust_env=False, timeout=SECONDS) as client,
        client.stream("GET", address, headers=headers, extensions={"sni_hostname": url.host}) as answer,
    ):
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise ToolError(f"{url} is compressed, although it was requested without compression")
        body = bytearray()
        async for data in answer.aiter_raw():
            body += data
            if len(body) > BYTES:
                raise ToolError(f"{url} has more than {BYTES} bytes")
        return httpx2.Response(answer.status_code, headers=answer.headers, content=bytes(body))


async def public_address(host: str, port: int) -> str:
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ToolError(f"unknown host: {host}") from None
    addresses = [str(entry[4][0]) for entry in entries]
    if not all(map(is_public, addresses)):
        raise ToolError(f"{host} is not on the public internet")
    return addresses[0]


def is_public(address: str) -> bool:
    return ip_address(address).is_global and not ip_address(address).is_multicast


@cache
def tls() -> SSLContext:
    return httpx2.create_ssl_context()


SKIPPED = {"script", "style", "template", "svg", "head", "nav", "footer", "form", "button"}
PREFIXES = {
    **{f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)},
    **dict.fromkeys(("p", "div", "section", "article", "table", "ul", "ol", "pre"), "\n\n"),
    **{"li": "\n- ", "tr": "\n", "td": " | ", "th": " | ", "br": "\n", "blockquote": "\n\n> "},
}


class Markdown(HTMLParser):
    """Collects headings, paragraphs, lists and links; leaves out scripts, forms and navigation."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.links: list[str] = []
        self.skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.skipped += tag in SKIPPED
        self.add(PREFIXES.get(tag, ""))
        if tag == "a":
            self.links.append(dict(attrs).get("href") or "")
            self.add("[")

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self.links:
            self.add(f"]({self.links.pop()})")
        if tag in SKIPPED and self.skipped:
            self.skipped -= 1

    def handle_data(self, data: str) -> None:
        self.add(re.sub(r"\s+", " ", data))

    def add(self, text: str) -> None:
        if not self.skipped:
            self.parts.append(text)


def to_markdown(html: str) -> str:
    parser = Markdown()
    parser.feed(html)
    parser.close()
    return re.sub(r" *\n[ \n]*\n *", "\n\n", "".join(parser.parts)).strip()


if __name__ == "__main__":
    server.run()
