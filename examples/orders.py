"""Orders in an SQLite database: a lifespan opens it, a dependency wraps each call in a transaction.

python examples/orders.py                       on stdio
assay serve examples/orders.py --transport http
"""

import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from os import environ
from threading import Lock
from typing import Annotated

from assay import Context, Depends, Server, ToolError

TABLE = (
    "create table if not exists orders (id integer primary key, customer text, article text, count integer)"
)


@dataclass
class State:
    """What the server needs as long as it runs."""

    database: sqlite3.Connection
    lock: Lock


@dataclass
class Order:
    id: int
    article: str
    count: int


@asynccontextmanager
async def lifespan(server: Server) -> AsyncGenerator[State]:
    database = sqlite3.connect(environ.get("ORDERS", ":memory:"), check_same_thread=False)
    try:
        database.execute(TABLE)
        yield State(database, Lock())
    finally:
        database.close()


def transaction(ctx: Context[State]) -> Generator[sqlite3.Connection]:
    """Commits when the tool has returned, and rolls back if it has failed."""
    with ctx.lifespan.lock, ctx.lifespan.database as database:
        yield database


def customer(ctx: Context[State]) -> str:
    return str(ctx.principal or "anonymous")


Database = Annotated[sqlite3.Connection, Depends(transaction)]
Customer = Annotated[str, Depends(customer)]
server = Server("orders", version="1.0.0", lifespan=lifespan)


@server.tool
def order(article: str, database: Database, owner: Customer, count: int = 1) -> Order:
    """Order an article."""
    insert = "insert into orders (customer, article, count) values (?, ?, ?)"
    number = database.execute(insert, (owner, article, count)).lastrowid
    if count < 1:
        raise ToolError("Order at least one.")  # and nothing is stored
    return Order(number or 0, article, count)


@server.tool(annotations={"readOnlyHint": True})
def orders(database: Database, owner: Customer) -> list[Order]:
    """List your orders."""
    rows = database.execute("select id, article, count from orders where customer = ?", (owner,))
    return [Order(*row) for row in rows]


if __name__ == "__main__":
    server.run()
