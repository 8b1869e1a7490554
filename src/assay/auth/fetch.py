"""Asking an authorization server for a document: briefly, within bounds, and nowhere else than told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from ssl import SSLContext
from typing import Any, Final

from assay.model.error import MissingExtra

from .denial import Unavailable
from .json_object import read_object

TIMEOUT: Final = 5.0
"""Seconds for all of it."""
DOCUMENT_BYTES: Final = 256 * 1024


async def fetch(
    url: str, *, form: Mapping[str, str] | None = None, client: tuple[str, str] | None = None
) -> dict[str, Any]:
    """The JSON object at an address; `form` is posted there, in the name of `client`.

    Raises:
        Unavailable: there is none to be had. The reason holds neither form nor secrets.
    """
    import httpx2  # takes a while to load, and a server whose keys are at hand never needs it

    try:
        async with asyncio.timeout(TIMEOUT):
            found = read_object(await _read(url, form, client))
    except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Unavailable(f"{url} cannot be reached: {type(error).__name__}") from None
    if found is None:
        raise Unavailable(f"{url} answered with something else than a JSON object")
    return found


async def _read(url: str, form: Mapping[str, str] | None, client: tuple[str, str] | None) -> bytes:
    import httpx2

    method = "GET" if form is None else "POST"
    # Not compressed: what is small on its way could be endless here.
    accepted = {"accept": "application/json", "accept-encoding": "identity"}
    verified = _tls() if url.lower().startswith("https:") else False
    # A redirect would send whoever asks, and what is sent, to a place that nobody has named.
    async with (
        httpx2.AsyncClient(verify=verified, follow_redirects=False, timeout=TIMEOUT) as http,
        http.stream(method, url, data=form, auth=client, headers=accepted) as answer,
    ):
        if answer.status_code != 200:
            raise Unavailable(f"{url} answered with status {answer.status_code}")
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise Unavailable(f"{url} answered with something compressed")
        body = bytearray()
        async for part in answer.aiter_raw():
            body += part
            if len(body) > DOCUMENT_BYTES:
                raise Unavailable(f"{url} answered with more than {DOCUMENT_BYTES} bytes")
        return bytes(body)


@cache
def _tls() -> SSLContext:
    """Made once: reading all the certificates of authorities takes a while."""
    import httpx2

    return httpx2.create_ssl_context()


def need_client() -> None:
    """
    Raises:
        MissingExtra: nothing can be fetched, which had better be known before the first client comes.
    """
    if find_spec("httpx2") is None:
        raise MissingExtra('keys and tokens are asked for with httpx2: pip install "assay-mcp[auth]"')
