"""The logger of this package, and how a request is named in it."""

from __future__ import annotations

import logging
from typing import Final

from assay.model.visible import visible, visible_record
from assay.server.middleware.call import MiddlewareCall

logger: Final = logging.getLogger("assay.middleware")
logger.addFilter(visible_record)

MAX_LENGTH: Final = 256
"""Characters of a name, which the client chooses."""


def title_of(call: MiddlewareCall) -> str:
    """The method and the name, in one line. The author's own logger may have no filter."""
    title = call.method if call.name is None else f"{call.method} {call.name}"
    return visible(title[:MAX_LENGTH])
