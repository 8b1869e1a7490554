"""A client for a collector: OTLP/JSON over one persistent HTTP connection."""

from __future__ import annotations

import http.client
from typing import Final
from urllib.parse import urlsplit

TIMEOUT: Final = 10.0
"""Seconds for one export."""
HEADERS: Final = {"content-type": "application/json", "user-agent": "assay"}


class CollectorClient:
    """For use by one thread at a time."""

    def __init__(self, url: str) -> None:
        """`url` is the base URL of the collector, such as `http://localhost:4318`."""
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
        self._path = parts.path.rstrip("/")
        self.url = url

    def post(self, path: str, body: bytes) -> None:
        """Post a body; retries once if the collector had closed the idle connection.

        Raises:
            OSError: The collector did not accept it.
        """
        reused = self._connection.sock is not None
        try:
            status = self._request(path, body)
        except (ConnectionError, http.client.BadStatusLine) as error:
            if not reused:
                raise OSError(str(error) or type(error).__name__) from error
            status = self._request(path, body)
        except http.client.HTTPException as error:
            raise OSError(str(error) or type(error).__name__) from error
        if status >= 300:
            raise OSError(f"the collector returned status {status}")

    def _request(self, path: str, body: bytes) -> int:
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
