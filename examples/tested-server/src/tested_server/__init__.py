"""A lending library as an MCP server, and a program that borrows from it."""

from .agent import borrow_all
from .server import make_server, server

__all__ = ["borrow_all", "make_server", "server"]
