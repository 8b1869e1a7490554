"""A SQLite database for a model: queries, tables, and a memo of what it has learned.

What the SQLite server of MCP's reference collection does, on Assay.

DATABASE=shop.db python examples/sqlite_server.py                           serve on stdio
DATABASE=shop.db assay serve examples/sqlite_server.py --transport http     serve at http://localhost:3000/mcp
"""

import os
import sqlite3
from collections import deque
from contextlib import closing
from typing import Annotated, Any

from msgspec import Meta

from assay import Context, Server, ToolAnnotations, ToolError

DATABASE = os.environ.get("DATABASE", "example.db")
ROWS = 1000
LENGTH = 1_000_000

# SQLite asks whether a statement may take an action. Other files, settings and triggers are never allowed.
SELECT = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
CHANGE = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_TRANSACTION}
CREATE = {sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX}
DESCRIBE = {sqlite3.SQLITE_PRAGMA}

READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDING = ToolAnnotations(destructive_hint=False, open_world_hint=False)
Query = Annotated[str, Meta(min_length=1, max_length=20_000, description="One SQL statement")]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Insight = Annotated[str, Meta(min_length=1, max_length=2000, description="What was found out")]
Row = dict[str, str | int | float | None]

server = Server("sqlite", version="1.0.0")
insights: deque[str] = deque(maxlen=200)


@server.tool(annotations=READ_ONLY)
def read_query(query: Query, ctx: Context) -> list[Row]:
    """Run a SELECT statement."""
    return execute(ctx, SELECT, query)[0]


@server.tool(annotations=ToolAnnotations(destructive_hint=True, open_world_hint=False))
def write_query(query: Query, ctx: Context) -> int:
    """Run an INSERT, UPDATE or DELETE statement. Returns the number of rows that it changed."""
    _, changed = execute(ctx, SELECT | CHANGE, query)
    if changed < 0:
        raise ToolError("this tool runs INSERT, UPDATE and DELETE: use read_query to read")
    return changed


@server.tool(annotations=ADDING)
def create_table(query: Query, ctx: Context) -> str:
    """Run a CREATE TABLE statement."""
    rows, _ = execute(ctx, SELECT | CREATE, query)
    if rows:
        raise ToolError("this tool runs CREATE TABLE: use read_query to read")
    return "table created"


@server.tool(annotations=READ_ONLY)
def list_tables(ctx: Context) -> list[str]:
    """List the names of all tables."""
    tables, _ = execute(ctx, SELECT, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [str(table["name"]) for table in tables]


@server.tool(annotations=READ_ONLY)
def describe_table(table_name: Name, ctx: Context) -> list[Row]:
    """Describe the columns of a table."""
    columns, _ = execute(ctx, SELECT | DESCRIBE, "SELECT * FROM pragma_table_info(?)", table_name)
    if not columns:
        raise ToolError(f"no such table: {table_name}")
    return columns


@server.tool(annotations=ADDING)
async def append_insight(insight: Insight) -> str:
    """Add an insight to the memo."""
    insights.append(insight)
    server.resource_updated("memo://insights")
    return f"the memo has {len(insights)} insights"


@server.resource("memo://insights", title="Insights")
async def memo() -> str:
    """What was found out so far."""
    return "\n".join(f"- {insight}" for insight in insights) or "No insights yet."


@server.prompt(name="mcp-demo", title="Explore a topic")
def explore(topic: Annotated[str, "What the data should be about"]) -> str:
    """Create example data about a topic, and analyse it."""
    return (
        f"Invent a business problem about {topic}. Create two or three tables for it with create_table, fill "
        "them with write_query, and answer questions about them with read_query. Note each insight with "
        "append_insight, and finish with a summary of the resource memo://insights."
    )


def execute(ctx: Context, allowed: set[int], query: str, *values: str) -> tuple[list[Row], int]:
    """Run one statement that takes only allowed actions. Returns its rows, and how many rows it changed."""

    def authorize(action: int, target: str | None, *_: Any) -> int:
        # SQLite itself refuses statements that change its catalogue, `sqlite_master`, directly.
        permitted = action in allowed or target == "sqlite_master"
        return sqlite3.SQLITE_OK if permitted else sqlite3.SQLITE_DENY

    # A transaction: committed at the end, rolled back after an error.
    with closing(sqlite3.connect(DATABASE, timeout=5)) as connection, connection:
        connection.set_authorizer(authorize)
        connection.set_progress_handler(lambda: ctx.cancelled, 100_000)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LENGTH)
        try:
            cursor = connection.execute(query, values)
            rows = cursor.fetchmany(ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise ToolError(f"SQLite refused the statement: {error}") from None
    if len(rows) > ROWS:
        raise ToolError(f"the result has more than {ROWS} rows: add a LIMIT")
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, map(as_json, row), strict=True)) for row in rows], cursor.rowcount


def as_json(value: Any) -> str | int | float | None:
    return value.hex() if isinstance(value, bytes) else value


if __name__ == "__main__":
    server.run()
