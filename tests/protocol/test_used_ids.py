"""Ids that a client has used: refused a second time, within bounds."""

from __future__ import annotations

import sys

import pytest

from assay import Limits, RpcError, Server, Strictness
from assay.protocol.used_ids import ENTRY_BYTES, LONGEST, UsedIds
from tests.server.scripted import ScriptedClient


class Room:
    """Bytes that all sessions share."""

    def __init__(self, limit: int = 1_000_000) -> None:
        self.limit = limit
        self.used = 0

    def reserve(self, size: int) -> bool:
        if self.used + size > self.limit:
            return False
        self.used += size
        return True


def is_refused(ids: UsedIds, request_id: int | str, room: Room) -> bool:
    try:
        ids.use(request_id, room.reserve)
    except RpcError as error:
        assert error.code == -32600 and "already used" in error.message
        return True
    return False


@pytest.mark.parametrize(
    "request_id", [0, -5, 2**70, -(2**70), 10**4000, "", "a", "\ud800", "x" * LONGEST, "y" * 100_000]
)
def test_id_is_accepted_once(request_id: int | str) -> None:
    ids, room = UsedIds(10, 10_000), Room()
    assert [is_refused(ids, request_id, room) for _ in range(2)] == [False, True]


def test_number_and_text_are_different_ids() -> None:
    ids, room = UsedIds(10, 10_000), Room()
    assert not is_refused(ids, 1, room) and not is_refused(ids, "1", room)


def test_long_number_takes_no_more_than_it_is_counted_for() -> None:
    ids, room = UsedIds(10, 10_000), Room()
    ids.use(10**4000, room.reserve)
    ids.use(-(10**4000), room.reserve)
    assert max(sys.getsizeof(key) for key in ids._sizes) < ENTRY_BYTES


def test_refusal_of_a_long_id_is_short() -> None:
    ids, room = UsedIds(10, 10_000), Room()
    ids.use("z" * 1_000_000, room.reserve)
    with pytest.raises(RpcError) as caught:
        ids.use("z" * 1_000_000, room.reserve)
    assert len(str(caught.value)) < 200


def test_oldest_is_forgotten_at_the_limit_of_ids() -> None:
    ids, room = UsedIds(3, 10_000), Room()
    for number in range(4):
        ids.use(number, room.reserve)
    assert [is_refused(ids, number, room) for number in (3, 2, 1)] == [True] * 3
    assert not is_refused(ids, 0, room)
    assert (len(ids), room.used) == (3, 3 * ENTRY_BYTES)


def test_oldest_are_forgotten_at_the_limit_of_bytes() -> None:
    ids, room = UsedIds(1000, 5 * ENTRY_BYTES), Room()
    for number in range(1000):
        ids.use(f"{number:050}", room.reserve)
    assert len(ids) == 3 and room.used <= 5 * ENTRY_BYTES
    assert is_refused(ids, f"{999:050}", room)


def test_long_ids_take_no_more_than_short_ones() -> None:
    ids, room = UsedIds(1000, 1_000_000), Room()
    for number in range(10):
        ids.use(f"{number}" * 100_000, room.reserve)
    assert room.used < 10 * 2 * ENTRY_BYTES


def test_ids_are_forgotten_if_other_sessions_take_the_room() -> None:
    ids, room = UsedIds(1000, 1_000_000), Room(limit=3 * ENTRY_BYTES)
    for number in range(10):
        ids.use(number, room.reserve)
    assert (len(ids), room.used) == (3, 3 * ENTRY_BYTES)


def test_without_any_room_ids_are_accepted_and_not_remembered() -> None:
    ids, room = UsedIds(1000, 1_000_000), Room(limit=0)
    assert [is_refused(ids, 1, room) for _ in range(2)] == [False, False]
    assert (len(ids), room.used) == (0, 0)


STRICT = Strictness(unique_ids=True)


async def test_strict_server_refuses_an_id_after_its_answer() -> None:
    async with ScriptedClient(Server("test", strictness=STRICT)) as client:
        ping = {"jsonrpc": "2.0", "id": "again", "method": "ping"}
        assert "result" in await client.deliver(ping)
        error = (await client.deliver(ping))["error"]
    assert error == {
        "code": -32600,
        "message": "id was already used in this session: 'again'; use a new one",
    }


async def test_id_of_initialize_and_of_a_refused_request_is_used() -> None:
    async with ScriptedClient(Server("test", strictness=STRICT)) as client:
        assert (await client.deliver({"jsonrpc": "2.0", "id": 1, "method": "ping"}))["error"][
            "code"
        ] == -32600
        unknown = {"jsonrpc": "2.0", "id": 7, "method": "no/such"}
        codes = [(await client.deliver(unknown))["error"]["code"] for _ in range(2)]
    assert codes == [-32601, -32600]


async def test_each_session_has_its_own_ids() -> None:
    server = Server("test", strictness=STRICT)
    for _ in range(2):
        async with ScriptedClient(server) as client:
            assert await client.result("ping") == {}


async def test_ids_are_free_again_after_the_answer_by_default() -> None:
    async with ScriptedClient(Server("test")) as client:
        for _ in range(2):
            assert "result" in await client.deliver({"jsonrpc": "2.0", "id": 9, "method": "ping"})


async def test_request_that_declares_its_client_may_repeat_an_id() -> None:
    """In that revision, ids are unique among requests in progress only."""
    about = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": {"_meta": about}}
    server = Server("test", strictness=STRICT, capabilities={"tools": True})
    async with ScriptedClient(server) as client:
        for _ in range(2):
            assert "result" in await client.deliver(message)


async def test_ids_count_against_the_bytes_of_all_sessions_until_the_session_ends() -> None:
    server = Server("test", strictness=STRICT, limits=Limits(request_ids=5))
    async with ScriptedClient(server) as client:
        before = server.session_budget.used
        for _ in range(20):
            await client.request("ping")
        # The handshake has used one id.
        assert server.session_budget.used == before + 4 * ENTRY_BYTES
    assert server.session_budget.used == 0
