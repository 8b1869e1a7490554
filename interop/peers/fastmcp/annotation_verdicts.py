"""What fastmcp does with every annotation of the table whose path is given: one line of JSON per row.

A line has the row's title and either why fastmcp refused the function, or the schema and, for each value,
whether it was accepted and what the function received or the client read.
"""

import asyncio
import importlib.util
import json
import logging
import sys
import warnings
from types import ModuleType
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("annotations", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["annotations"] = module  # types refer to their module by its name
    spec.loader.exec_module(module)
    return module


async def verdict(row: Any, missing: str) -> dict[str, Any]:
    received: list[Any] = []
    try:
        function = row.function(received)
    except (NameError, AttributeError):
        return {"title": row.title, "refused": "not tried: msgspec is not a dependency of fastmcp"}
    server = FastMCP("types")
    try:
        server.tool(function)
    except Exception as error:
        return {"title": row.title, "refused": f"refuses the type: {error}"}
    async with Client(server) as client:
        (tool,) = await client.list_tools()
        values = []
        for value in (*row.good, *row.bad):
            received.clear()
            try:
                await client.call_tool("take", {} if value == missing else {row.name: value})
                values.append([True, repr(received[0])])
            except ToolError as error:
                values.append([False, str(error)])
    return {"title": row.title, "schema": tool.inputSchema, "values": values}


async def main(path: str) -> None:
    table = load(path)
    for row in table.ROWS:
        print(json.dumps(await verdict(row, table.MISSING)), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable()
    asyncio.run(main(sys.argv[1]))
