"""Lists without end."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final

from assay.lab.harness.hosting.answer import Answer
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.hosting.host import Host
from assay.lab.harness.hosting.turn import Turn

from .evidence import AFTER

SAME: Final = "the same again"
MOST_SAME: Final = 100
MOST: Final = 300
"""Pages with nothing on them after which the host gives in: who has read so many would have read on."""
IN_VAIN: Final = Brief(steps=(tried(LIST_TOOLS), call(AFTER)), may_fail=True)


def add_endless(host: Host, cursor: Callable[[int], str], most: int) -> None:
    """Every page of tools leads to another, until there were more than enough."""
    numbers = count(1)
    host.add_tool({"name": AFTER})

    @host.on("tools/list")
    async def page(turn: Turn) -> Answer:
        number = next(numbers)
        more = {} if number > most else {"nextCursor": cursor(number)}
        return {"tools": host.items["tools"] if number == 1 else [], **more}
