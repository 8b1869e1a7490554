"""Lines at the start of a server over HTTP: settings that will not do what they seem to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from assay.protocol.http.policy import LOOPBACK, HttpPolicy, Sessions

from .sealer import RandomKeySealer

if TYPE_CHECKING:
    from .runnable import Runnable

EVERYWHERE: Final = ("0.0.0.0", "::", "")
LOCAL: Final = ("127.0.0.1", "::1", "localhost")


def cautions(server: Runnable, policy: HttpPolicy, host: str, workers: int) -> Iterator[str]:
    named = set(policy.allowed_hosts) - {*LOOPBACK, *EVERYWHERE, "[::]"}
    store = server.store
    is_shared = store is not None and store.is_shared
    if host in EVERYWHERE and not named:
        yield (
            "it listens on all addresses, but accepts only the Host names of this machine: "
            "other clients get 421; name the server's with --allow-host (allowed_hosts)"
        )
    if "*" in policy.allowed_hosts and host in LOCAL:
        yield (
            "any Host name is accepted on a loopback address: a page of a foreign site can reach the server "
            "by DNS rebinding; list the names instead of `*`"
        )
    if workers > 1 and not is_shared and policy.sessions is not Sessions.OFF:
        yield (
            f"{workers} workers each have a store in memory: a session is known to one of them only; "
            "leave the store out, or use --store sqlite:///FILE or redis://…"
        )
    if (
        is_shared
        and store is not None
        and "redis" in store.name
        and isinstance(server.sealer, RandomKeySealer)
    ):
        yield (
            "no sealing key: questions that are answered by retry fail on another machine, and after a "
            "restart; give every machine the same Server(sealing=[key])"
        )
    if named and host in LOCAL and not policy.trusted_proxies:
        yield (
            "it listens on loopback under a public name, so behind a proxy: all its clients count as one for "
            "limits, until the proxy is named with --trusted-proxy (trusted_proxies)"
        )
    if any(network.prefixlen == 0 for network in policy.trusted_proxies):
        yield "every address is trusted as a proxy, so any client can claim to be another: name the proxy's"
