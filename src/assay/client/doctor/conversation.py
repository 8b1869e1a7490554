"""The protocol: which revision both sides agree on, and the first list."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any, Final

from assay.client.client import Client
from assay.client.retry import Retry
from assay.model.client_error import ClientError

from .step import Setup, Step, failed, passed, skipped

LISTS: Final = ("tools", "resources", "prompts")
_FIX: Final = "leave out the revision, or choose one that the server has"


async def converse(target: Any, setup: Setup) -> AsyncIterator[Step]:
    """Open a session as every client of this package does, read a list, and close it."""
    client = make_client(target, setup)
    start = time.perf_counter()
    try:
        await client.open()
    except ClientError as error:
        yield failed("protocol", str(error), _FIX if setup.revision else "look at the server's log")
        yield skipped("list", "no session")
        return
    try:
        yield passed("protocol", _agreed(client), _ms(start))
        yield await _first_list(client)
    finally:
        await client.close()


def make_client(target: Any, setup: Setup) -> Client:
    """
    Raises:
        TypeError, ValueError: the target or an option is invalid.
    """
    return Client(
        target,
        revision=setup.revision,
        headers=setup.headers,
        tls=setup.tls,
        proxy=setup.proxy,
        timeout=setup.timeout,
        limits=setup.limits,
        auth=setup.auth,
        retry=Retry(deadline=0, restarts=0),
        name="assay-doctor",
    )


def _agreed(client: Client) -> str:
    info = client.server_info
    name = "a server without a name" if info is None else f"{info.name} {info.version}"
    offers = ", ".join(client.capabilities) or "nothing"
    return f"revision {client.revision}, {name[:200]}, declares {offers[:200]}"


async def _first_list(client: Client) -> Step:
    kind = next((kind for kind in LISTS if client.capabilities.get(kind) is not None), None)
    if kind is None:
        return skipped("list", "the server declares no tools, resources or prompts")
    start = time.perf_counter()
    try:
        items = await getattr(client, kind)()
    except ClientError as error:
        fix = f"call {kind}/list by hand and look at the server's log"
        return failed("list", f"{kind}/list: {error}", fix)
    noun = kind.removesuffix("s") if len(items) == 1 else kind
    return passed("list", f"{len(items)} {noun}", _ms(start))


def _ms(start: float) -> float:
    return round(1000 * (time.perf_counter() - start), 1)
