"""The client's log. It is set up on first use: most programs never log a line of it."""

from __future__ import annotations

import logging
from functools import cache


@cache
def client_logger() -> logging.Logger:
    from assay.model.visible import visible_record

    logger = logging.getLogger("assay.client")
    logger.addFilter(visible_record)
    return logger
