"""The refusal of a request for which the server has no memory left."""

from __future__ import annotations

from typing import Final

from assay.model.error import INTERNAL_ERROR

from .head_policy import Refusal

REASON: Final = "server is busy: too many bytes in flight; try again later"
BUSY: Final = Refusal(503, REASON, ((b"retry-after", b"1"),), INTERNAL_ERROR)
