"""The SQLite server: each tool runs its kind of statement, and nothing else."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples import sqlite_server
from examples.sqlite_server import server
from tests.server.scripted import GUARD, ScriptedClient, finished

COUNT_FOREVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


async def call(tool: str, **arguments: Any) -> Any:
    result = await asyncio.wait_for(server.tools.call(tool, arguments), GUARD)
    text = result.content[0].text
    return text if result.is_error or result.structured is None else result.structured["result"]


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sqlite_server, "DATABASE", str(tmp_path / "test.db"))
    yield
    sqlite_server.insights.clear()


@pytest.fixture
async def table(database: None) -> None:
    query = "CREATE TABLE hats (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL)"
    assert await call("create_table", query=query) == "table created"
    assert await call("write_query", query="INSERT INTO hats (name) VALUES ('bowler'), ('beret')") == 2


async def test_rows_are_read(table: None) -> None:
    rows = await call("read_query", query="SELECT name, x'00ff' AS raw FROM hats ORDER BY name")
    assert rows == [{"name": "beret", "raw": "00ff"}, {"name": "bowler", "raw": "00ff"}]


async def test_tables_and_columns_are_described(table: None) -> None:
    assert "hats" in await call("list_tables")
    columns = await call("describe_table", table_name="hats")
    assert [column["name"] for column in columns] == ["id", "name"]


@pytest.mark.parametrize("name", ["coats", "hats'; DROP TABLE hats; --", "hats)"])
async def test_table_name_is_never_part_of_a_statement(table: None, name: str) -> None:
    assert await call("describe_table", table_name=name) == f"no such table: {name}"
    assert "hats" in await call("list_tables")


REFUSED = {
    "read_query": (
        "DELETE FROM hats",
        "INSERT INTO hats (name) VALUES ('x')",
        "DROP TABLE hats",
        "SELECT 1; DROP TABLE hats",
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'copy.db'",
        "PRAGMA writable_schema = 1",
        "SELECT load_extension('x')",
        "SELECT zeroblob(100000000)",
        "not SQL",
    ),
    "write_query": (
        "DROP TABLE hats",
        "SELECT * FROM hats",
        "DELETE FROM sqlite_master",
        "CREATE TRIGGER t AFTER INSERT ON hats BEGIN DELETE FROM hats; END",
        "INSERT INTO hats (name) VALUES ('beret')",
        "PRAGMA user_version = 3",
    ),
    "create_table": ("DELETE FROM hats", "DROP TABLE hats", "CREATE VIEW v AS SELECT 1", "SELECT 1"),
}


@pytest.mark.parametrize(("tool", "query"), [(tool, query) for tool in REFUSED for query in REFUSED[tool]])
async def test_other_statements_are_refused_and_change_nothing(
    table: None, tool: str, query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refusal = await call(tool, query=query)
    assert "SQLite refused the statement" in refusal or "this tool runs" in refusal
    assert len(await call("read_query", query="SELECT * FROM hats")) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["test.db"]


async def test_result_with_too_many_rows_asks_for_a_limit() -> None:
    query = COUNT_FOREVER.replace("count(*)", "x")
    assert "add a LIMIT" in await call("read_query", query=query)


async def test_endless_query_ends_when_it_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    started, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    execute = sqlite_server.execute

    def watched(*arguments: Any) -> Any:
        loop.call_soon_threadsafe(started.set)
        try:
            return execute(*arguments)
        finally:
            loop.call_soon_threadsafe(ended.set)

    monkeypatch.setattr(sqlite_server, "execute", watched)
    async with ScriptedClient(server) as client:
        query = client.start_call("read_query", query=COUNT_FOREVER)
        await asyncio.wait_for(started.wait(), GUARD)
        await client.cancel(2)
        assert await finished(query) is None
        await asyncio.wait_for(ended.wait(), GUARD)


async def test_memo_collects_insights_and_tells_its_subscribers() -> None:
    async with ScriptedClient(server) as client:
        await client.result("resources/subscribe", uri="memo://insights")
        await client.call("append_insight", insight="hats sell in winter")
        assert (await client.receive())["params"] == {"uri": "memo://insights"}
        read = await client.result("resources/read", uri="memo://insights")
    assert read["contents"][0]["text"] == "- hats sell in winter"


async def test_prompt_is_about_the_topic() -> None:
    prompt = await server.prompts.get("mcp-demo", {"topic": "hats"})
    assert "about hats" in prompt.messages[0].content.text
