"""The lines that a server over HTTP begins with: each names a setting that will not do what it seems to."""

from typing import Any

import pytest

from assay import Server
from assay.server.caution import cautions
from assay.store.memory_store import MemoryStore
from assay.transport.asgi.build import make_policy


class SharedMemory(MemoryStore):
    """As if several processes shared it."""

    is_shared = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    @property
    def name(self) -> str:
        return self._name


def lines(
    host: str = "127.0.0.1", workers: int = 1, server: Server | None = None, **options: Any
) -> list[str]:
    return list(cautions(server or Server("cautious"), make_policy(options), host, workers))


@pytest.mark.parametrize(
    ("begin", "settings"),
    [
        ("it listens on all addresses", {"host": "0.0.0.0"}),
        ("it listens on all addresses", {"host": "::", "allowed_hosts": ["localhost", "[::]"]}),
        (
            "any Host name is accepted on a loopback address",
            {"allowed_hosts": ["*"], "trusted_proxies": ["10.0.0.1"]},
        ),
        ("2 workers each have a store in memory", {"workers": 2}),
        ("it listens on loopback under a public name", {"allowed_hosts": ["mcp.example.com"]}),
        ("every address is trusted as a proxy", {"host": "10.0.0.7", "trusted_proxies": ["0.0.0.0/0"]}),
    ],
)
def test_setting_that_misleads_is_named(begin: str, settings: dict[str, Any]) -> None:
    (line,) = lines(**settings)
    assert line.startswith(begin)


def test_store_of_several_machines_needs_a_sealing_key() -> None:
    store = SharedMemory("redis://localhost:6379/0")
    (line,) = lines(server=Server("cautious", store=store))
    assert line.startswith("no sealing key")
    assert lines(server=Server("cautious", store=store, sealing=[b"k" * 32])) == []


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"host": "0.0.0.0", "allowed_hosts": ["mcp.example.com"]},
        {"host": "0.0.0.0", "allowed_hosts": ["*"]},
        {"allowed_hosts": ["mcp.example.com"], "trusted_proxies": ["127.0.0.1"]},
        {"workers": 4, "sessions": "off"},
        {"workers": 4, "server": Server("cautious", store=SharedMemory("sqlite:////state.db"))},
        {"host": "10.0.0.7", "allowed_hosts": ["10.0.0.7"], "trusted_proxies": ["10.0.0.0/8"]},
    ],
)
def test_setting_that_does_what_it_seems_to_is_not_mentioned(settings: dict[str, Any]) -> None:
    assert lines(**settings) == []
