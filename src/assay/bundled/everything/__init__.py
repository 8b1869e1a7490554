"""The everything server: every feature of MCP once, with the names and texts that conformance suites expect.

It also shows everything that a server can do, with public names only. Clients see the first line of each
docstring.
"""

from contextlib import suppress
from pathlib import Path

from assay import MissingExtra

from .fixture import RED_PIXEL, SILENCE, WATCHED, server, texts
from .task import add_task_tools

__all__ = ["RED_PIXEL", "SILENCE", "WATCHED", "server", "texts"]

add_task_tools(server)
# Skills need PyYAML, which not every installation has.
with suppress(MissingExtra):
    server.skills(Path(__file__).parent / "skills")
