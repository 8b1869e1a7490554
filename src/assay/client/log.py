"""The client's log. It is set up on first use: most programs never log a line of it."""

from __future__ import annotations

import logging
from functools import cache
from typing import Final

MOST_WARNINGS: Final = 20
WARNING_CHARACTERS: Final = 1000


@cache
def client_logger() -> logging.Logger:
    from assay.model.visible import visible_record

    logger = logging.getLogger("assay.client")
    logger.addFilter(visible_record)
    return logger


class ServerWarnings:
    """Warnings about what one server sends: a few, and each cut, because a server can send without end."""

    def __init__(self) -> None:
        self._left = MOST_WARNINGS

    def add(self, text: str, *parts: object) -> None:
        if self._left <= 0:
            return
        self._left -= 1
        end = "" if self._left else " (further warnings about this server are left out)"
        client_logger().warning("%s%s", (text % parts)[:WARNING_CHARACTERS], end)
