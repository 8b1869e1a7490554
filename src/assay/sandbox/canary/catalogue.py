"""All escapes, in the order in which they are tried."""

from __future__ import annotations

from typing import Final

from . import file, limit, network, privilege, process
from .escape import Escape

ESCAPES: Final[tuple[Escape, ...]] = (
    *network.ESCAPES,
    *file.ESCAPES,
    *process.ESCAPES,
    *privilege.ESCAPES,
    *limit.ESCAPES,
)
