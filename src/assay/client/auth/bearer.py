"""A token that the user has already."""

from __future__ import annotations

import re
from typing import Final

from assay.transport.client.port import RefusedRequest, RequestLines

TOKEN: Final = re.compile(r"[\x21-\x7e]+")


class BearerAuthorizer:
    """
    Raises:
        ValueError: the token is empty, or no header can carry it.
    """

    patience = 0.0
    generation = 0

    def __init__(self, token: str) -> None:
        if not TOKEN.fullmatch(token):
            # It is a secret, so the error does not show it.
            raise ValueError("auth= is a token without spaces and control characters, and without 'Bearer '")
        self._lines = RequestLines(f"Authorization: Bearer {token}\r\n", 0)

    async def lines(self, method: str, url: str) -> RequestLines:
        return self._lines

    async def recover(self, refused: RefusedRequest) -> bool:
        return False

    def context(self) -> str:
        return ""

    async def close(self) -> None:
        return
