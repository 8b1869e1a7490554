"""Assay with its default settings; the tool is a `def`, which runs in a thread."""

from typing import Any

from assay import Server

server = Server("bench")


@server.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def app() -> Any:
    return server.asgi()


if __name__ == "__main__":
    server.run()
