"""Tokens outlive a client, and only their owner can read them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from assay import (
    AuthorizationFailed,
    Client,
    FileStorage,
    KeyringStorage,
    MemoryStorage,
    MissingExtra,
    OAuth,
    TokenStorage,
)
from tests.client.auth.world import World, protected


class Keyring(ModuleType):
    """What the package `keyring` offers, in memory."""

    def __init__(self) -> None:
        super().__init__("keyring")
        self.values: dict[tuple[str, str], str] = {}
        self.errors = SimpleNamespace(KeyringError=RuntimeError)
        self.locked = False

    def get_password(self, service: str, key: str) -> str | None:
        if self.locked:
            raise RuntimeError("locked")
        return self.values.get((service, key))

    def set_password(self, service: str, key: str, value: str) -> None:
        self.values[service, key] = value

    def delete_password(self, service: str, key: str) -> None:
        del self.values[service, key]


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Keyring:
    module = Keyring()
    monkeypatch.setitem(sys.modules, "keyring", module)
    return module


@pytest.fixture(params=["memory", "file", "keyring"])
def storage(request: pytest.FixtureRequest, tmp_path: Path, keyring: Keyring) -> TokenStorage:
    makers: dict[str, Any] = {
        "memory": MemoryStorage,
        "file": lambda: FileStorage(tmp_path / "tokens"),
        "keyring": KeyringStorage,
    }
    made_storage: TokenStorage = makers[request.param]()
    return made_storage


async def greet(world: World, storage: TokenStorage, **options: Any) -> str:
    auth = OAuth(headless=True, storage=storage, **options)
    async with Client(world.url, auth=auth) as client:
        return (await client.call("greet")).text


async def test_a_storage_keeps_replaces_and_forgets(storage: TokenStorage) -> None:
    assert await storage.load("https://a.example/ x") is None
    await storage.save("https://a.example/ x", "first")
    await storage.save("https://a.example/ x", "second")
    await storage.save("https://b.example/", "other")
    assert await storage.load("https://a.example/ x") == "second"
    await storage.delete("https://a.example/ x")
    await storage.delete("https://a.example/ x")
    assert await storage.load("https://a.example/ x") is None
    assert await storage.load("https://b.example/") == "other"


async def test_another_client_uses_the_stored_token(storage: TokenStorage) -> None:
    async with protected() as world:
        await greet(world, storage)
        await greet(world, storage)
        assert len(world.at("/authorize")) == 1


async def test_a_bound_token_is_stored_with_its_key(storage: TokenStorage) -> None:
    async with protected() as world:
        await greet(world, storage, dpop=True)
        await greet(world, storage, dpop=True)
        assert len(world.at("/token")) == 1


async def test_a_token_that_another_process_has_replaced_is_used() -> None:
    storage = MemoryStorage()
    async with protected() as world:
        async with Client(world.url, auth=OAuth(headless=True, storage=storage)) as first:
            await first.call("greet")
            world.server.refused.add(world.last_token)
            assert (await greet(world, storage)).endswith("developer")
            await first.call("greet")
        assert world.grants() == ["authorization_code", "refresh_token"]


async def test_files_are_for_their_owner_only_and_nothing_else_is_left(tmp_path: Path) -> None:
    directory = tmp_path / "deep" / "tokens"
    async with protected() as world:
        await greet(world, FileStorage(directory))
    files = list(directory.iterdir())
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600]
    assert directory.stat().st_mode & 0o777 == 0o700


async def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    storage = FileStorage(tmp_path)
    await storage.save("key", "secret")
    file = next(tmp_path.iterdir())
    file.chmod(0o644)
    with pytest.raises(AuthorizationFailed, match="chmod 600"):
        await storage.load("key")
    file.chmod(0o600)
    assert await storage.load("key") == "secret"


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
async def test_a_place_that_another_user_prepared_is_refused(tmp_path: Path, kind: str) -> None:
    storage = FileStorage(tmp_path / "tokens")
    await storage.save("key", "secret")
    file = next((tmp_path / "tokens").iterdir())
    file.rename(tmp_path / "elsewhere")
    if kind == "link":
        file.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(file, 0o600)
    else:
        file.mkdir(0o700)
    with pytest.raises(AuthorizationFailed, match=r"cannot be read|is not a file"):
        await storage.load("key")


async def test_a_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = FileStorage(tmp_path)
    await storage.save("key", "secret")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(AuthorizationFailed, match="belongs to another user"):
        await storage.load("key")


async def test_a_file_without_bounds_is_refused(tmp_path: Path) -> None:
    storage = FileStorage(tmp_path)
    await storage.save("key", "x" * (1024 * 1024 + 1))
    with pytest.raises(AuthorizationFailed, match="more than 1048576 bytes"):
        await storage.load("key")


async def test_a_directory_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AuthorizationFailed, match="cannot be written"):
        await FileStorage(tmp_path / "file").save("key", "value")


async def test_stored_nonsense_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    class Damaged(MemoryStorage):
        async def load(self, key: str) -> str | None:
            return await super().load(key) or "{damaged"

    async with protected() as world:
        assert (await greet(world, Damaged())).endswith("developer")
    assert "cannot be read, and are replaced" in caplog.text


async def test_a_locked_keyring_is_an_error(keyring: Keyring) -> None:
    keyring.locked = True
    with pytest.raises(AuthorizationFailed, match="unlock it"):
        await KeyringStorage().load("key")


def test_a_missing_keyring_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(MissingExtra, match="pip install keyring"):
        KeyringStorage()
