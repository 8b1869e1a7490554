"""Walks the steps to a server, until one of them makes the next ones impossible."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from assay.client.stdio import Stdio
from assay.transport.client.proxy import proxy_for
from assay.transport.client.url import Address, read_address

from . import network, process
from .conversation import converse, make_client
from .step import Diagnosis, Setup, Status, Step, skipped, without_secrets

if TYPE_CHECKING:
    from assay.client.auth.selection import Auth
    from assay.transport.client.proxy import ProxyOption


async def diagnose(
    target: str | Stdio,
    *,
    headers: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
    revision: str | None = None,
    timeout: float = 10.0,
    auth: Auth | None = None,
    proxy: ProxyOption = None,
) -> Diagnosis:
    """Find out why a server cannot be reached or used.

    Args:
        target: A URL, or `Stdio("command", "argument")`.
        headers: As for `Client`.
        tls: As for `Client`.
        revision: As for `Client`.
        timeout: Seconds for each step.
        auth: As for `Client`.
        proxy: As for `Client`.

    Raises:
        TypeError, ValueError: an argument is invalid.
    """
    setup = Setup(headers, tls, revision, timeout, auth, proxy)
    steps = [step async for step in examine(target, setup)]
    return Diagnosis(target if isinstance(target, str) else " ".join(target.command), steps)


async def examine(target: str | Stdio, setup: Setup) -> AsyncIterator[Step]:
    """The steps, each when it is done.

    Raises:
        TypeError, ValueError: an argument is invalid.
    """
    make_client(target, setup)  # refuses invalid options before anything is sent
    walk = _walk_url(read_address(target), setup) if isinstance(target, str) else _walk_command(target, setup)
    secrets = setup.secrets
    async for step in walk:
        yield without_secrets(step, secrets)


async def _walk_url(address: Address, setup: Setup) -> AsyncIterator[Step]:
    proxy = proxy_for(address, setup.proxy)
    if proxy is not None:
        step = await network.reach_proxy(proxy.address, setup)
        yield step
        if step.status is not Status.FAILED:
            async for step in converse(address.url, setup):
                yield step
        return
    name, hosts = await network.resolve(address, setup)
    yield name
    if name.status is Status.FAILED:
        return
    tcp = await network.connect(address, hosts, setup)
    yield tcp
    if tcp.status is Status.FAILED:
        return
    if address.is_encrypted:
        tls = await network.handshake(address, hosts[0], setup)
        yield tls
        if tls.status is Status.FAILED:
            return
    is_open = True
    if address.scheme in ("http", "https"):
        async for step in _walk_http(address, setup):
            is_open = is_open and (step.name not in ("http", "auth") or step.status is not Status.FAILED)
            yield step
    if not is_open:
        yield skipped("protocol", "a step before it failed")
        return
    async for step in converse(address.url, setup):
        yield step


async def _walk_http(address: Address, setup: Setup) -> AsyncIterator[Step]:
    # Not at the top: a command needs no package for HTTP.
    from .document import documents
    from .endpoint import ask, judge_credentials

    step, reply = await ask(address, setup)
    yield step
    if reply is None or step.status is Status.FAILED:
        return
    async for step in documents(address, reply, setup):
        yield step
    yield judge_credentials(reply, setup)


async def _walk_command(target: Stdio, setup: Setup) -> AsyncIterator[Step]:
    command = process.find(target)
    yield command
    if command.status is Status.FAILED:
        return
    *steps, end = await process.Watch(target, setup).steps()
    for step in steps:
        yield step
    if all(step.name != "start" or step.status is not Status.FAILED for step in (*steps, end)):
        async for step in converse(target, setup):
            yield step
    yield end
