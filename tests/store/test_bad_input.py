"""Stores that cannot be used: each error names cause and fix, in one line."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from assay import LifespanFailed, Server
from assay.model.error import StoreAway
from assay.revisions.registry import HANDSHAKE
from assay.store import StoreError, open_store
from assay.store.redis.link import read_sentinel
from assay.store.sqlite.store import SqliteStore
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import initialize
from tests.transport.shared import Workers, workers

from .backend import Backend, RedisBackend, SqliteBackend
from .test_contract import record

NEWEST = HANDSHAKE[-1]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "not the URL of a store"),
        ("state.db", "not the URL of a store: 'state.db'; write sqlite:///FILE"),
        ("mysql://host/0", "write sqlite:///FILE, redis://HOST:PORT/0"),
        ("sqlite:state.db", "write sqlite:///state.db"),
        ("sqlite://state.db", "write sqlite:///state.db"),
        ("sqlite:///", "write sqlite:///state.db"),
        ("sqlite:///:memory:", "write sqlite:///state.db"),
        ("sqlite:///a%00b", "write sqlite:///state.db"),
        ("sqlite:///a.db?synchronous=off", "write ?synchronous=full, or nothing"),
        ("sqlite:///a.db?mode=ro", "not an option of an SQLite store"),
        ("memory:state", "a store in memory has no address: 'memory:state'; write memory:"),
        ("redis:", "write redis://host:6379/0"),
        ("redis://host:port/0", "write redis://host:6379/0"),
        ("redis://host:99999/0", "write redis://host:6379/0"),
        ("redis://host/0?prefix=a:b", "write ?prefix=notes"),
        ("redis+sentinel://host:26379", "redis+sentinel://host:26379/service"),
        ("redis+sentinel://host:x/service", "redis+sentinel://host:26379/service"),
    ],
)
def test_wrong_url_names_the_form(url: str, problem: str) -> None:
    with pytest.raises(StoreError, match=re.escape(problem)) as caught:
        open_store(url)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("url", ["redis://ada:secret@host:port/0", "redis://:secret@/0?prefix=-"])
def test_password_is_in_no_message(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(url)
    assert "secret" not in str(caught.value)
    assert "secret" not in open_store("redis://ada:secret@host/0").name


def test_sentinels_service_and_access_are_read() -> None:
    hosts, service, options = read_sentinel("rediss+sentinel://ada:a%40b@one:1,two/main/3")
    assert (hosts, service) == ([("one", 1), ("two", 26379)], "main")
    assert options == {"db": 3, "ssl": True, "username": "ada", "password": "a@b"}


async def failure(url: str) -> str:
    """The one line with which a server with this store refuses to start."""
    server = Server("test", store=url)
    with pytest.raises(LifespanFailed) as caught:
        await server.start()
    await server.stop()
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_file_in_no_directory(tmp_path: Path) -> None:
    assert "name a file in a directory that exists" in await failure(f"sqlite:///{tmp_path}/none/state.db")


async def test_directory_instead_of_a_file(tmp_path: Path) -> None:
    assert "is not a file; name a file" in await failure(f"sqlite:///{tmp_path}")


async def test_file_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.touch(0o600)
    path.write_bytes(b"no database at all" * 100)
    assert "it is not an SQLite file; name another file" in await failure(f"sqlite:///{path}")


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    path.touch(0o600)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


async def test_file_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with database(path) as connection:
        connection.execute("create table notes (text)")
    assert "is an SQLite file of another program; name another" in await failure(f"sqlite:///{path}")


async def test_file_of_a_newer_version(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    await store.start()
    await store.close()
    with database(tmp_path / "state.db") as connection:
        connection.execute("pragma user_version = 99")
    problem = await failure(f"sqlite:///{tmp_path}/state.db")
    assert "has form 99, and this version of Assay reads up to 1; install the version that wrote" in problem


async def test_file_that_others_can_read(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.touch()
    path.chmod(0o644)
    assert f"is readable for other users; chmod 600 {path}" in await failure(f"sqlite:///{path}")
    path.write_text("the password file, named by mistake")
    assert "it is not an SQLite file; name another file" in await failure(f"sqlite:///{path}")


async def test_file_is_created_for_its_owner_only(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    await store.start()
    await store.sessions.save(record())
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    await store.close()
    assert len(modes) == 3 and set(modes.values()) == {0o600}


async def test_file_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = SqliteStore(tmp_path / "state.db")
    await store.start()
    store._database.read("pragma query_only = true")  # permissions would not stop root
    with pytest.raises(StoreAway):
        await store.sessions.save(record())
    with pytest.raises(StoreError, match="cannot be written; make file and directory writable"):
        await store.check()
    assert "it cannot be written; make file and directory writable for this user" in caplog.text
    await store.close()


async def test_full_disk_refuses_what_needs_room_and_recovers(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    await store.start()
    pages = store._database.read("pragma page_count")[0][0]
    store._database.read(f"pragma max_page_count = {pages}")
    with pytest.raises(StoreAway):
        await store.events.append("s", "a", b"x" * 100_000)
    assert await store.sessions.load("s") is None  # reading needs no room
    store._database.read("pragma max_page_count = 100000")
    assert await store.events.append("s", "a", b"x" * 100_000) == 1
    await store.close()


async def test_locked_file_refuses_within_the_bound_and_others_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.store.sqlite.database.PATIENCE", 0.2)
    async with workers(SqliteBackend(tmp_path), 1) as serving:
        client = await AsgiPeer(serving.apps[0]).shake_hands(NEWEST)
        with database(tmp_path / "state.db") as connection:
            connection.execute("begin immediate")
            refused = await AsgiPeer(serving.apps[0]).post(initialize(NEWEST))
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            assert refused.json["error"]["code"] == -31004
            assert (await client.call("add", a=1, b=2)).status == 200  # changes nothing in the store
            assert (await sessionless(serving).call("add", a=1, b=2)).status == 200
            connection.execute("rollback")
        assert (await AsgiPeer(serving.apps[0]).post(initialize(NEWEST))).status == 200


def sessionless(serving: Workers) -> AsgiPeer:
    return AsgiPeer(serving.apps[0])


# Redis.


async def test_redis_that_does_not_run() -> None:
    problem = await failure("redis://127.0.0.1:1/0")
    assert (
        problem
        == "store redis://127.0.0.1:1/0 cannot be reached; check that it runs, and its host, port and TLS"
    )


@contextmanager
def configured(port: int, password: str | None = None, **settings: str) -> Iterator[None]:
    """A Redis with other settings, for a while."""
    with closing(Redis(port=port, decode_responses=True)) as client:
        before = {name: client.config_get(name)[name] for name in settings}  # type: ignore[index]
        for name, value in settings.items():
            client.config_set(name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                client.config_set(name, value)


async def test_redis_that_needs_a_password(redis_port: int) -> None:
    with configured(redis_port, requirepass="secret"):
        assert "needs a password, or another one; write redis://:PASSWORD@" in await failure(
            RedisBackend(redis_port).url
        )
        wrong = await failure(f"redis://:wrong@127.0.0.1:{redis_port}/0")
        assert "needs a password, or another one" in wrong and "wrong@" not in wrong
        server = Server("test", store=f"redis://:secret@127.0.0.1:{redis_port}/0?prefix=ok")
        async with server:
            pass


async def test_redis_that_may_evict_sessions(redis_port: int) -> None:
    with configured(redis_port, **{"maxmemory-policy": "allkeys-lru"}):
        problem = await failure(RedisBackend(redis_port).url)
    assert "may delete sessions: its maxmemory-policy is allkeys-lru; set it to noeviction" in problem


async def test_redis_out_of_memory_refuses_new_sessions_and_recovers(redis_port: int) -> None:
    async with workers(RedisBackend(redis_port), 1) as serving:
        client = await AsgiPeer(serving.apps[0]).shake_hands(NEWEST)
        with configured(redis_port, maxmemory="1"):
            assert (await AsgiPeer(serving.apps[0]).post(initialize(NEWEST))).status == 503
            assert (await client.call("add", a=1, b=2)).status == 200
        assert (await AsgiPeer(serving.apps[0]).post(initialize(NEWEST))).status == 200


async def test_redis_that_pauses_is_waited_for_within_the_bound(
    redis_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.store.redis.link.TIMEOUT", 0.3)
    monkeypatch.setattr("assay.store.redis.bus.BLOCK", 100)
    async with workers(RedisBackend(redis_port), 1) as serving:
        client = await AsgiPeer(serving.apps[0]).shake_hands(NEWEST)
        with closing(Redis(port=redis_port)) as admin:
            admin.execute_command("CLIENT", "PAUSE", 1200, "ALL")
            refused = await AsgiPeer(serving.apps[0]).post(initialize(NEWEST))
            assert (refused.status, refused.json["error"]["code"]) == (503, -31004)
            assert (await sessionless(serving).call("add", a=1, b=2)).status == 200
        async with asyncio.timeout(10):
            while (await AsgiPeer(serving.apps[0]).post(initialize(NEWEST))).status != 200:
                pass  # each attempt waits for Redis, up to the bound
        assert (await client.call("add", a=1, b=2)).status == 200


async def test_check_tells_whether_the_store_can_be_used(backend: Backend) -> None:
    store: Any = open_store(backend.url)
    with pytest.raises(StoreError, match="is closed; start the server"):
        await store.check()
    await store.start()
    await store.check()
    await store.start()  # once more changes nothing
    await store.close()
    await store.close()
