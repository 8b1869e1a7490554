"""A collector of OTLP/JSON, reached by HTTP on one connection that is kept."""

from __future__ import annotations

import http.client
from typing import Final
from urllib.parse import urlsplit

PATIENCE: Final = 10.0
"""Seconds for one export."""
HEADERS: Final = {"content-type": "application/json", "user-agent": "assay"}


class Posting:
    """Used by one thread at a time."""

    def __init__(self, url: str) -> None:
        """`url` is where the collector is: `http://localhost:4318`."""
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=PATIENCE)
        self._path = parts.path.rstrip("/")
        self.url = url

    def post(self, path: str, body: bytes) -> None:
        """Send it, once more where the collector had closed a connection that was kept.

        Raises:
            OSError: it does not take it; the text says why.
        """
        kept = self._connection.sock is not None
        try:
            status = self._ask(path, body)
        except (ConnectionError, http.client.BadStatusLine) as error:
            if not kept:
                raise OSError(str(error) or type(error).__name__) from error
            status = self._ask(path, body)
        except http.client.HTTPException as error:
            raise OSError(str(error) or type(error).__name__) from error
        if status >= 300:
            raise OSError(f"it answered with status {status}")

    def _ask(self, path: str, body: bytes) -> int:
        try:
            self._connection.request("POST", f"{self._path}{path}", body, HEADERS)
            answer = self._connection.getresponse()
            answer.read()
        except BaseException:
            self._connection.close()
            raise
        return answer.status

    def close(self) -> None:
        self._connection.close()
