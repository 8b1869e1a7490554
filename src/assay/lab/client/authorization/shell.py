"""What a shell would work out if it were given an address: a sum, which does no harm."""

from __future__ import annotations

from typing import Final

NAME: Final = "seen"
SUM: Final = "$((6*7))"
RESULT: Final = "42"
