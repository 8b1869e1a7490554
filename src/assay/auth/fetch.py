"""Fetch JSON documents from an authorization server, with bounds on time and size and without redirects."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from ssl import SSLContext
from typing import Any, Final

from assay.model.error import MissingExtra

from .error import Unavailable
from .json_object import read_object

TIMEOUT: Final = 5.0
"""Seconds for the whole request."""
DOCUMENT_BYTES: Final = 256 * 1024


async def fetch(
    url: str, *, form: Mapping[str, str] | None = None, client: tuple[str, str] | None = None
) -> dict[str, Any]:
    """The JSON object at a URL; `form` is posted, authenticated as `client`.

    Raises:
        Unavailable: No such document could be read. The message holds neither the form nor secrets.
    """
    import httpx2  # slow to import, and not needed by a server whose keys are local

    try:
        async with asyncio.timeout(TIMEOUT):
            document = read_object(await _read(url, form, client))
    except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Unavailable(f"{url} cannot be reached: {type(error).__name__}") from None
    if document is None:
        raise Unavailable(f"{url} did not return a JSON object")
    return document


async def _read(url: str, form: Mapping[str, str] | None, client: tuple[str, str] | None) -> bytes:
    import httpx2

    method = "GET" if form is None else "POST"
    # Uncompressed: a small response could expand without bound.
    headers = {"accept": "application/json", "accept-encoding": "identity"}
    verified = _tls() if url.lower().startswith("https:") else False
    # A redirect would send the client's credentials to a host that the operator did not configure.
    async with (
        httpx2.AsyncClient(verify=verified, follow_redirects=False, timeout=TIMEOUT) as http,
        http.stream(method, url, data=form, auth=client, headers=headers) as answer,
    ):
        if answer.status_code != 200:
            raise Unavailable(f"{url} returned status {answer.status_code}")
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise Unavailable(f"{url} returned a compressed response")
        body = bytearray()
        async for part in answer.aiter_raw():
            body += part
            if len(body) > DOCUMENT_BYTES:
                raise Unavailable(f"{url} returned more than {DOCUMENT_BYTES} bytes")
        return bytes(body)


@cache
def _tls() -> SSLContext:
    """Cached, because loading the CA certificates is slow."""
    import httpx2

    return httpx2.create_ssl_context()


def need_client() -> None:
    """
    Raises:
        MissingExtra: httpx2 is not installed. Checked at start-up rather than on the first request.
    """
    if find_spec("httpx2") is None:
        raise MissingExtra('keys and introspection need httpx2: pip install "assay-mcp[auth]"')
